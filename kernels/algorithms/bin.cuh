// SPDX-License-Identifier: Apache-2.0
// The contract bin_N/1 for FATLINK_ELEMENT_BYTES = N: where an element of N bytes is counted.
//
// bin   the bin of x; one that the histogram does not have is not counted. `state` is the launch's
//       user data, or null; read-only, the same for all threads. Called from divergent code, so it
//       must not synchronize the block or the warp
#pragma once

#include <fatlink/typed_hooks.cuh>

extern "C" __device__ unsigned bin(fatlink_element x, void const* state);
