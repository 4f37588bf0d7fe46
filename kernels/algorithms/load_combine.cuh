// SPDX-License-Identifier: Apache-2.0
// The contract load_combine_N/1 for FATLINK_ELEMENT_BYTES = N: a binary operator of elements that
// are computed from an array of any type. It includes the contracts load_N and combine_N:
// transforms of both define its hooks.
//
// load      as of load_N
// combine   as of combine_N
#pragma once

#define FATLINK_CONTRACT load_combine
#include <fatlink/typed_hooks.cuh>

extern "C" __device__ fatlink_element load(void const* in, std::size_t index, void const* state);
extern "C" __device__ fatlink_element combine(fatlink_element a, fatlink_element b);
