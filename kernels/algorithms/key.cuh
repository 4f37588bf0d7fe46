// SPDX-License-Identifier: Apache-2.0
// The contract key_N/1 for FATLINK_ELEMENT_BYTES = N: the key of elements of N bytes.
//
// key   the unsigned integer by which x is sorted; if N < 8, only its 8 N least significant bits
//       are used. It depends only on x and `state`. `state` is the launch's user data, or null;
//       read-only, the same for all threads. Called several times for each element, from divergent
//       code, so it must not synchronize the block or the warp.
#pragma once

#include <fatlink/typed_hooks.cuh>

extern "C" __device__ unsigned long long key(fatlink_element x, void const* state);
