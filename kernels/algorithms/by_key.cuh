// SPDX-License-Identifier: Apache-2.0
// The contract by_key_N/1 for FATLINK_ELEMENT_BYTES = N: runs of equal keys, and an operator for
// the values of a run. It includes the contracts combine_N and same_key: transforms of both define
// its hooks.
//
// combine              as of combine_N
// same_key, copy_key   as of same_key
#pragma once

#define FATLINK_CONTRACT by_key
#include <fatlink/typed_hooks.cuh>

extern "C" __device__ fatlink_element combine(fatlink_element a, fatlink_element b);
extern "C" __device__ bool same_key(void const* keys, std::size_t index);
extern "C" __device__ void copy_key(void* out, std::size_t place, void const* keys,
                                    std::size_t index);
