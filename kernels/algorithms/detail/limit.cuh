// SPDX-License-Identifier: Apache-2.0
// Numbers of elements that are only known on the device: "limit" of a size of a launch plan.
#pragma once

#include <cstddef>

namespace fatlink_algorithms {

/// The smaller of `n` and *limit; `n` if `limit` is null. Called after wait_for_last_launch, as the
/// launch before may write *limit.
__device__ __forceinline__ std::size_t limited(std::size_t n, unsigned long long const* limit)
{
  if (limit == nullptr) return n;
  std::size_t const count = *limit;
  return count < n ? count : n;
}

/// A number of elements for code that waits for the launch before: at most `most`.
struct element_count {
  std::size_t most;
  unsigned long long const* limit;

  /// After wait_for_last_launch.
  __device__ __forceinline__ std::size_t get() const { return limited(most, limit); }

  /// min(end, get()), with fewer registers. After wait_for_last_launch.
  __device__ __forceinline__ std::size_t clip(std::size_t end) const
  {
    return limited(end < most ? end : most, limit);
  }
};

/// The smaller of `n` and the number of chunks of `chunk` elements that *limit elements have.
__device__ __forceinline__ std::size_t limited_chunks(std::size_t n,
                                                      unsigned long long const* limit,
                                                      std::size_t chunk)
{
  if (limit == nullptr) return n;
  std::size_t const count = (*limit + chunk - 1) / chunk;
  return count < n ? count : n;
}

}  // namespace fatlink_algorithms
