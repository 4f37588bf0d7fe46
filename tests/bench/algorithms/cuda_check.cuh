// SPDX-License-Identifier: Apache-2.0
// Ends the program where a call of CUDA fails.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace cub_calls {

inline void check(cudaError_t code, char const* action)
{
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s failed: %s\n", action, cudaGetErrorString(code));
  std::exit(1);
}

}  // namespace cub_calls
