// SPDX-License-Identifier: Apache-2.0
// The contract load_bin_N/1 for FATLINK_ELEMENT_BYTES = N: where an element that is computed from
// an array of any type is counted. It includes the contracts load_N and bin_N: transforms of both
// define its hooks.
//
// load   as of load_N
// bin    as of bin_N; its `state` is not that of `load`
#pragma once

#define FATLINK_CONTRACT load_bin
#include <fatlink/typed_hooks.cuh>

extern "C" __device__ fatlink_element load(void const* in, std::size_t index, void const* state);
extern "C" __device__ unsigned bin(fatlink_element x, void const* state);
