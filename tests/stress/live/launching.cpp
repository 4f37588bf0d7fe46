// SPDX-License-Identifier: Apache-2.0
#include "launching.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>

namespace stress {
namespace {

void count_results(std::span<float const> results, expected_results const& expected,
                   launch_counts& counts)
{
  std::size_t first = 0;
  std::size_t second = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    first += results[i] == expected.first[i];
    second += results[i] == expected.second[i];
  }
  if (first == results.size())
    ++counts.of_first;
  else if (second == results.size())
    ++counts.of_second;
  else
    ++(first + second == results.size() ? counts.mixed : counts.wrong);
}

void note_failure(launch_counts& counts, char const* text)
{
  ++counts.failed;
  std::lock_guard const lock(counts.mutex);
  counts.failure = text;
}

}  // namespace

std::vector<float> input_values(std::size_t count)
{
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = 1.0F + static_cast<float>(i) / static_cast<float>(count);
  return values;
}

launching_thread::launching_thread(fatlink::device const& device,
                                   fatlink::live_kernel<elementwise> kernel, launch_size size)
    : size_(size),
      kernel_(std::move(kernel)),
      stream_(device.create_stream()),
      in_(device.allocate<float>(size.elements)),
      out_(device.allocate<float>(size.elements * size.batch)),
      results_(size.elements * size.batch)
{
  in_.write(input_values(size.elements));
}

void launching_thread::launch(latency_histogram& latencies)
{
  using clock = std::chrono::steady_clock;
  out_.fill(std::byte{0xFF}, stream_);
  auto const shape = fatlink::elementwise_shape(size_.elements);
  for (std::size_t i = 0; i < size_.batch; ++i) {
    auto const start = clock::now();
    kernel_.launch(stream_, shape, in_.data(), out_.data() + i * size_.elements, size_.elements);
    latencies.add(std::chrono::duration<double, std::micro>(clock::now() - start).count());
  }
  out_.read(results_, stream_);
  stream_.synchronize();
}

void launch_in_threads(launch_job const& job, launch_counts& counts, latency_histogram& latencies,
                       std::function<bool()> const& is_done)
{
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> running;
  for (unsigned t = 0; t < job.threads; ++t)
    running.emplace_back([&] {
      launching_thread thread(job.device, job.kernel, job.size);
      while (next.fetch_add(job.size.batch) < job.launches || !is_done()) try {
          thread.launch(latencies);
          for (std::size_t i = 0; i < job.size.batch; ++i)
            count_results(thread.results(i), job.expected, counts);
          counts.launches += job.size.batch;
        } catch (std::exception const& failure) {
          note_failure(counts, failure.what());
        }
    });
}

}  // namespace stress
