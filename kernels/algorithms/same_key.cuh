// SPDX-License-Identifier: Apache-2.0
// The contract same_key/1: where the runs of equal keys begin in an array of keys of any type.
//
// same_key   whether element `index` of the array `keys` is equal to the element before it;
//            index > 0. Reads these two elements only. Equality need not be that of the bytes
// copy_key   copies element `index` of `keys` to element `place` of the array `out`, which has the
//            same type
//
// Both are called from divergent code, so they must not synchronize the block or the warp.
#pragma once

#include <fatlink/typed_hooks.cuh>

extern "C" __device__ bool same_key(void const* keys, std::size_t index);
extern "C" __device__ void copy_key(void* out, std::size_t place, void const* keys,
                                    std::size_t index);
