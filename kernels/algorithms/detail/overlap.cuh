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
__device__ __forceinline__ void wait_for_last_launch()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace fatlink_algorithms
