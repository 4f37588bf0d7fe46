// SPDX-License-Identifier: Apache-2.0
// The contract load_by_key_N/1 for FATLINK_ELEMENT_BYTES = N: runs of equal keys, and an operator
// for the values of a run, which are computed from an array of any type. It includes the contracts
// load_N, combine_N and same_key: transforms of these define its hooks.
//
// load                 as of load_N
// combine              as of combine_N
// same_key, copy_key   as of same_key
#pragma once

#define FATLINK_CONTRACT load_by_key
#include <fatlink/typed_hooks.cuh>

extern "C" __device__ fatlink_element load(void const* in, std::size_t index, void const* state);
extern "C" __device__ fatlink_element combine(fatlink_element a, fatlink_element b);
extern "C" __device__ bool same_key(void const* keys, std::size_t index);
extern "C" __device__ void copy_key(void* out, std::size_t place, void const* keys,
                                    std::size_t index);
