// SPDX-License-Identifier: Apache-2.0
#include "measurements.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace stress {

double latency_histogram::percentile(double share) const
{
  std::uint64_t total = 0;
  for (auto const& count : classes_) total += count;
  auto const rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(total)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    seen += classes_[i];
    if (seen >= rank && seen > 0)
      return k_least_us * std::exp2(static_cast<double>(i + 1) / k_classes_per_octave);
  }
  return 0;
}

nlohmann::json latency_histogram::describe() const
{
  std::uint64_t total = 0;
  for (auto const& count : classes_) total += count;
  return {{"launches", total},
          {"p50_us", percentile(0.5)},
          {"p99_us", percentile(0.99)},
          {"p99_9_us", percentile(0.999)},
          {"max_us", percentile(1)}};
}

std::size_t free_gpu_bytes()
{
  using query = int (*)(std::size_t*, std::size_t*);
  auto* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  auto const mem_get_info =
      library == nullptr ? nullptr : reinterpret_cast<query>(::dlsym(library, "cuMemGetInfo_v2"));
  std::size_t free = 0;
  std::size_t total = 0;
  if (mem_get_info == nullptr || mem_get_info(&free, &total) != 0)
    throw std::runtime_error("cuMemGetInfo failed");
  return free;
}

}  // namespace stress
