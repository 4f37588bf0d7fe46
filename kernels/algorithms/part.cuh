// SPDX-License-Identifier: Apache-2.0
// The contract part_N/1 for FATLINK_ELEMENT_BYTES = N: divides elements of N bytes into three
// parts.
//
// part   the part of x: 0, 1, or any other number for the third part. `state` is the launch's user
//        data, or null; read-only, the same for all threads. Called once for each element, from
//        divergent code, so it must not synchronize the block or the warp
#pragma once

#include <fatlink/typed_hooks.cuh>

extern "C" __device__ unsigned part(fatlink_element x, void const* state);
