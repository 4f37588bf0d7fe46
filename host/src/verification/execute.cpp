// SPDX-License-Identifier: Apache-2.0
#include "verification/execute.hpp"

#include <algorithm>
#include <chrono>

namespace fatlink {
namespace {

constexpr std::size_t k_chunk = std::size_t{4} << 20;  // elements; 16 MiB a buffer
constexpr double k_steps_without_reference = 4;
constexpr std::byte k_poison{0xFF};  // NaNs: an element never written shows

using clock = std::chrono::steady_clock;
using elementwise_kernel = kernel<void(float const*, float*, std::size_t)>;

void require_positive(std::size_t value, char const* name)
{
  if (value > 0) return;
  throw usage_error({.message = std::string(name) + " is 0: a block or thread has at "
                                                    "least one element",
                     .input = name,
                     .code = error_code::invalid_argument,
                     .hint = "pass 1 or more"});
}

/// How many groups of at most `size` hold `count`; no sum that can overflow.
std::size_t group_count(std::size_t count, std::size_t size)
{
  return count / size + (count % size != 0 ? 1 : 0);
}

struct on_device {
  elementwise_kernel kernel;
  device_buffer<float> out;
};

class run {
 public:
  run(device const& on, element_source const& input, execution_request const& request)
      : device_(on),
        input_(input),
        request_(request),
        count_(input.size()),
        stream_(on.create_stream()),
        in_(on.allocate<float>(count_))
  {
  }

  execution_report execute(std::span<linked_image const> images)
  {
    upload();
    for (auto const& image : images) launch(image);
    if (images.size() > 1) report_.between.emplace();
    auto const start = clock::now();
    check_all();
    report_.verify_ms = std::chrono::duration<double, std::milli>(clock::now() - start).count();
    return std::move(report_);
  }

 private:
  void progress(char const* doing, std::size_t done) const
  {
    if (request_.progress)
      request_.progress(doing, static_cast<double>(done) / static_cast<double>(count_));
  }

  template <typename Visit>
  void by_chunks(char const* doing, Visit const& visit) const
  {
    for (std::size_t first = 0; first < count_; first += k_chunk) {
      progress(doing, first);
      visit(first, std::min(k_chunk, count_ - first));
    }
    progress(doing, count_);
  }

  void upload()
  {
    std::vector<float> chunk(std::min(k_chunk, count_));
    by_chunks("uploading", [&](std::size_t first, std::size_t size) {
      auto const part = std::span(chunk).first(size);
      input_.fill(first, part);
      in_.write(part, first);
    });
  }

  void launch(linked_image const& image)
  {
    execution done;
    auto const start = clock::now();
    auto const loaded = device_.load(image);
    done.load_ms = std::chrono::duration<double, std::milli>(clock::now() - start).count();
    on_device code{loaded.kernel<void(float const*, float*, std::size_t)>(request_.kernel),
                   device_.allocate<float>(count_)};
    code.out.fill(k_poison);
    time(code, done);
    outputs_.push_back(std::move(code));
    report_.images.push_back(done);
  }

  /// On a GPU two launches: the first pays for loading code to the multiprocessors.
  void time(on_device const& code, execution& done)
  {
    require_positive(request_.elements_per_thread, "elements_per_thread");
    auto const threads = group_count(count_, request_.elements_per_thread);
    auto const shape = report_.shape = elementwise_shape(threads, request_.block);
    auto begin = device_.create_event();
    auto end = device_.create_event();
    auto const launch = [&] {
      auto const start = clock::now();
      begin.record(stream_);
      code.kernel.launch(stream_, shape, in_.data(), code.out.data(), count_);
      end.record(stream_);
      stream_.synchronize();
      return std::chrono::duration<double, std::milli>(clock::now() - start).count();
    };
    done.launch_ms = launch();
    if (device_.info().kind == device_kind::gpu) (void)launch();
    done.run_ms = end.ms_since(begin);
  }

  void check_all()
  {
    std::vector<float> in(std::min(k_chunk, count_));
    std::vector<std::vector<float>> out(outputs_.size(), in);
    by_chunks("verifying", [&](std::size_t first, std::size_t size) {
      auto const inputs = std::span(in).first(size);
      input_.fill(first, inputs);
      for (std::size_t i = 0; i < outputs_.size(); ++i)
        outputs_[i].out.read(std::span(out[i]).first(size), first);
      check(inputs, out, first);
    });
  }

  void check(std::span<float const> inputs, std::vector<std::vector<float>> const& out,
             std::size_t first)
  {
    auto const part = [&](std::size_t i) { return std::span(out[i]).first(inputs.size()); };
    if (request_.reference)
      for (std::size_t i = 0; i < out.size(); ++i)
        report_.images[i].against_reference +=
            verify_chunk(*request_.reference, inputs, part(i), first);
    if (report_.between)
      *report_.between += compare_chunk(inputs, part(0), part(1), tolerance_between(), first);
    if (request_.output != nullptr) request_.output->append(part(out.size() - 1));
    if (first < request_.first_results)
      keep_results(inputs.first(std::min(inputs.size(), request_.first_results - first)), out);
  }

  void keep_results(std::span<float const> inputs, std::vector<std::vector<float>> const& out)
  {
    std::vector<double> expected(inputs.size());
    if (request_.reference) request_.reference->evaluator()(inputs, expected);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      element_result result{.input = inputs[i]};
      for (auto const& values : out) result.actual.push_back(values[i]);
      if (request_.reference) result.expected = expected[i];
      report_.first_results.push_back(std::move(result));
    }
  }

  /// Two results within the tolerance of one value are within twice that, and a rounding.
  [[nodiscard]] double tolerance_between() const
  {
    return request_.reference ? 2 * request_.reference->tolerance_ulp : k_steps_without_reference;
  }

  device const& device_;
  element_source const& input_;
  execution_request const& request_;
  std::size_t count_;
  stream stream_;
  device_buffer<float> in_;
  std::vector<on_device> outputs_;
  execution_report report_;
};

}  // namespace

execution_report execute(device const& on, std::span<linked_image const> images,
                         element_source const& input, execution_request const& request)
{
  return run(on, input, request).execute(images);
}

}  // namespace fatlink
