// SPDX-License-Identifier: Apache-2.0
// Threads that launch one live kernel and check each element of each launch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "fatlink/live_module.hpp"
#include "measurements.hpp"

namespace stress {

using elementwise = void(float const*, float*, std::size_t);

/// What launches of the two transforms write.
struct expected_results {
  std::vector<float> first = {};
  std::vector<float> second = {};
};

/// What the launching threads have seen.
struct launch_counts {
  std::atomic<std::uint64_t> launches = 0;
  std::atomic<std::uint64_t> of_first = 0;
  std::atomic<std::uint64_t> of_second = 0;
  std::atomic<std::uint64_t> mixed = 0;   ///< elements of both transforms in one launch
  std::atomic<std::uint64_t> wrong = 0;   ///< an element of neither
  std::atomic<std::uint64_t> failed = 0;  ///< a launch threw
  std::mutex mutex = {};
  std::string failure = {};  ///< of one that threw
};

/// Inputs on which the two transforms differ.
std::vector<float> input_values(std::size_t count);

/// Elements of the array that a launch reads, and launches whose results are read together.
struct launch_size {
  std::size_t elements = 0;
  std::size_t batch = 1;
};

/// One stream with its arrays.
class launching_thread {
 public:
  launching_thread(fatlink::device const& device, fatlink::live_kernel<elementwise> kernel,
                   launch_size size);

  /// Makes `batch` launches, one behind the other, and adds how long each call took to `latencies`.
  void launch(latency_histogram& latencies);
  /// What a launch of the last batch wrote.
  [[nodiscard]] std::span<float const> results(std::size_t launch) const
  {
    return std::span(results_).subspan(launch * size_.elements, size_.elements);
  }

 private:
  launch_size size_;
  fatlink::live_kernel<elementwise> kernel_;
  fatlink::stream stream_;
  fatlink::device_buffer<float> in_;
  fatlink::device_buffer<float> out_;
  std::vector<float> results_;
};

/// What to launch.
struct launch_job {
  fatlink::device const& device;
  fatlink::live_kernel<elementwise> const& kernel;
  launch_size size = {};
  unsigned threads = 0;
  std::size_t launches = 0;  ///< at least
  expected_results const& expected;
};

/// Launches in threads until there are `job.launches` and `is_done()`; adds to `counts` and
/// `latencies`.
void launch_in_threads(launch_job const& job, launch_counts& counts, latency_histogram& latencies,
                       std::function<bool()> const& is_done);

}  // namespace stress
