// SPDX-License-Identifier: Apache-2.0
// Launches that begin before the launch before them has ended: "overlap" of a launch plan.
#pragma once

namespace fatlink_algorithms {

/// Lets the blocks of the next launch start.
__device__ __forceinline__ void start_next_launch()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits for the end of the launch before; what that wrote is visible afterwards.
/// @return 0, which the compiler does not know. It may move loads of memory that, as it is told, no
///   one writes while the kernel runs (`__restrict__`) before the wait, but not those of an address
///   that this was added to.
__device__ __forceinline__ unsigned wait_for_last_launch()
{
  unsigned zero = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : "+r"(zero)::"memory");
#endif
  return zero;
}

}  // namespace fatlink_algorithms
