// SPDX-License-Identifier: Apache-2.0
// Figures of the stress test of live modules: latencies, memory. Units: microseconds, bytes.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>

namespace stress {

/// Counts latencies in classes of about one percent, so that any number of them takes the same
/// memory. Threads: safe.
class latency_histogram {
 public:
  void add(double us) noexcept
  {
    auto const place = std::log2(std::max(us, k_least_us) / k_least_us) * k_classes_per_octave;
    auto const index = std::min(static_cast<std::size_t>(place), classes_.size() - 1);
    classes_[index].fetch_add(1, std::memory_order_relaxed);
  }
  /// The latency that `share` of the launches do not exceed.
  [[nodiscard]] double percentile(double share) const;
  /// The percentiles that the report states.
  [[nodiscard]] nlohmann::json describe() const;

 private:
  static constexpr double k_least_us = 0.01;
  static constexpr double k_classes_per_octave = 64;

  std::array<std::atomic<std::uint64_t>, 64 * 32> classes_{};
};

/// Memory of this process that is in RAM.
inline std::size_t resident_bytes()
{
  std::size_t total = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Free memory of the GPU whose context is current to this thread.
std::size_t free_gpu_bytes();

}  // namespace stress
