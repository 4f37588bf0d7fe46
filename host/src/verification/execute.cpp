// SPDX-License-Identifier: Apache-2.0
#include "verification/execute.hpp"
#include "util/process/stopwatch.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "verification/scratch_floats.hpp"

namespace fatlink {
namespace {

constexpr std::size_t k_chunk = std::size_t{4} << 20;          // elements; 16 MiB a buffer
constexpr std::size_t k_chunk_on_host = std::size_t{1} << 20;  // beside arrays of the device
constexpr double k_steps_without_reference = 4;
constexpr std::byte k_poison{0xFF};  // NaNs, so that an element that no thread wrote is seen

using elementwise_kernel = kernel<void(float const*, float*, std::size_t)>;

/// Threads that process `count` elements. @throws usage_error `elements_per_thread` is 0.
std::size_t thread_count(std::size_t count, std::size_t elements_per_thread)
{
  if (elements_per_thread == 0)
    throw usage_error({.message = "elements_per_thread is 0: a thread has at least one element",
                       .input = "elements_per_thread",
                       .code = error_code::invalid_argument,
                       .hint = "pass 1 or more"});
  return count / elements_per_thread + (count % elements_per_thread != 0 ? 1 : 0);
}

/// Results of a kernel: on the device, or in a file.
struct kernel_results {
  std::optional<device_buffer<float>> out;
  std::unique_ptr<detail::scratch_floats> file = {};

  void read(std::span<float> destination, std::size_t start) const
  {
    if (out)
      out->read(destination, start);
    else
      file->read(destination, start);
  }
};

class run {
 public:
  run(device const& device, element_source const& input, execution_request const& request)
      : device_(device),
        input_(input),
        request_(request),
        count_(input.size()),
        chunk_(device.info().kind == device_kind::cpu ? k_chunk_on_host : k_chunk),
        stream_(device.create_stream()),
        in_(device.allocate<float>(count_))
  {
  }

  execution_report execute(std::span<linked_image const> images)
  {
    upload();
    for (auto const& image : images) {
      if (!outputs_.empty()) set_aside(outputs_.back());
      launch(image);
    }
    if (images.size() > 1) report_.between.emplace();
    detail::stopwatch watch;
    if (request_.before_results) request_.before_results();
    check_all();
    report_.verify_ms += watch.lap();
    return std::move(report_);
  }

 private:
  void report_progress(char const* action, std::size_t count) const
  {
    if (request_.progress)
      request_.progress(action, static_cast<double>(count) / static_cast<double>(count_));
  }

  template <typename Visit>
  void by_chunks(char const* action, Visit const& visit) const
  {
    for (std::size_t start = 0; start < count_; start += chunk_) {
      report_progress(action, start);
      visit(start, std::min(chunk_, count_ - start));
    }
    report_progress(action, count_);
  }

  void upload()
  {
    std::vector<float> chunk(std::min(chunk_, count_));
    by_chunks("uploading", [&](std::size_t start, std::size_t size) {
      auto const part = std::span(chunk).first(size);
      input_.fill(start, part);
      in_.write(part, start);
    });
  }

  void launch(linked_image const& image)
  {
    execution result;
    detail::stopwatch watch;
    auto const loaded = device_.load(image);
    result.load_ms = watch.lap();
    auto const kernel = loaded.kernel<void(float const*, float*, std::size_t)>(request_.kernel);
    auto out = device_.allocate<float>(count_);
    out.fill(k_poison);
    time(kernel, out, result);
    outputs_.push_back({.out = std::move(out)});
    report_.images.push_back(result);
  }

  /// On the reference device, whose memory is the host's: moves large results to a file, if it has
  /// room for them.
  void set_aside(kernel_results& results)
  {
    if (device_.info().kind != device_kind::cpu || count_ <= chunk_) return;
    detail::stopwatch watch;
    auto file = std::make_unique<detail::scratch_floats>();
    bool is_written = true;
    std::vector<float> chunk(chunk_);
    by_chunks("saving", [&](std::size_t start, std::size_t size) {
      auto const part = std::span(chunk).first(size);
      if (!is_written) return;
      results.out->read(part, start);
      is_written = file->append(part);
    });
    if (is_written) results = {.out = std::nullopt, .file = std::move(file)};
    report_.verify_ms += watch.lap();
  }

  /// Launches twice on a GPU: the time of the first includes loading code to the multiprocessors.
  void time(elementwise_kernel const& kernel, device_buffer<float> const& out, execution& result)
  {
    auto const threads = thread_count(count_, request_.elements_per_thread);
    auto const shape = report_.shape = elementwise_shape(threads, request_.block);
    auto begin = device_.create_event();
    auto end = device_.create_event();
    auto const launch = [&] {
      result.measured.begin = std::chrono::steady_clock::now();
      begin.record(stream_);
      kernel.launch(stream_, shape, in_.data(), out.data(), count_);
      end.record(stream_);
      stream_.synchronize();
      result.measured.end = std::chrono::steady_clock::now();
      return std::chrono::duration<double, std::milli>(result.measured.end - result.measured.begin)
          .count();
    };
    auto const is_gpu = device_.info().kind == device_kind::gpu;
    if (is_gpu) result.launch_ms = launch();
    if (request_.before_launch) request_.before_launch();
    auto const measured_ms = launch();
    if (!is_gpu) result.launch_ms = measured_ms;
    result.run_ms = end.ms_since(begin);
  }

  void check_all()
  {
    std::vector<float> chunk(std::min(chunk_, count_));
    std::vector<std::vector<float>> results(outputs_.size(), chunk);
    by_chunks("verifying", [&](std::size_t start, std::size_t size) {
      auto const inputs = std::span(chunk).first(size);
      input_.fill(start, inputs);
      for (std::size_t i = 0; i < outputs_.size(); ++i)
        outputs_[i].read(std::span(results[i]).first(size), start);
      check(inputs, results, start);
    });
  }

  void check(std::span<float const> inputs, std::vector<std::vector<float>> const& results,
             std::size_t start)
  {
    auto const part = [&](std::size_t i) { return std::span(results[i]).first(inputs.size()); };
    if (request_.reference)
      for (std::size_t i = 0; i < results.size(); ++i)
        report_.images[i].against_reference +=
            verify_chunk(*request_.reference, inputs, part(i), start);
    if (report_.between)
      *report_.between += compare_chunk(inputs, part(0), part(1), tolerance_between(), start);
    if (request_.output != nullptr)
      request_.output->append(std::as_bytes(part(results.size() - 1)));
    if (start < request_.first_results)
      keep_results(inputs.first(std::min(inputs.size(), request_.first_results - start)), results);
  }

  void keep_results(std::span<float const> inputs, std::vector<std::vector<float>> const& results)
  {
    std::vector<double> expected(inputs.size());
    if (request_.reference) request_.reference->evaluator()(inputs, expected);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      element_result result{.input = inputs[i]};
      for (auto const& values : results) result.actual.push_back(values[i]);
      if (request_.reference) result.expected = expected[i];
      report_.first_results.push_back(std::move(result));
    }
  }

  /// Two results that are each within the tolerance of one value differ by at most twice as much.
  [[nodiscard]] double tolerance_between() const
  {
    return request_.reference ? 2 * request_.reference->tolerance_ulp : k_steps_without_reference;
  }

  device const& device_;
  element_source const& input_;
  execution_request const& request_;
  std::size_t count_;
  std::size_t chunk_;  ///< elements that the host holds at a time
  stream stream_;
  device_buffer<float> in_;
  std::vector<kernel_results> outputs_;
  execution_report report_;
};

}  // namespace

execution_report execute(device const& device, std::span<linked_image const> images,
                         element_source const& input, execution_request const& request)
{
  return run(device, input, request).execute(images);
}

}  // namespace fatlink
