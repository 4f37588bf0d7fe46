// SPDX-License-Identifier: Apache-2.0
// The contract load_combine_N/1 for FATLINK_ELEMENT_BYTES = N: what is folded is made of an array
// of any type.
//
// load      the element of N bytes for index `index` of the array `in`; `state` is the
//           launch's user data, or null. Reads this element only
// combine   as of combine_N
#pragma once

#define FATLINK_CONTRACT_LOADS
#include <fatlink/typed_hooks.cuh>

extern "C" __device__ fatlink_element load(void const* in, std::size_t index, void const* state);
extern "C" __device__ fatlink_element combine(fatlink_element a, fatlink_element b);
