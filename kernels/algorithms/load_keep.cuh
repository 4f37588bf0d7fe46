// SPDX-License-Identifier: Apache-2.0
// The contract load_keep_N/1 for FATLINK_ELEMENT_BYTES = N: a predicate of elements that are
// computed from an array of any type. It includes the contracts load_N and keep_N: transforms of
// both define its hooks.
//
// load   as of load_N
// keep   as of keep_N; its `state` is not that of `load`
#pragma once

#define FATLINK_CONTRACT load_keep
#include <fatlink/typed_hooks.cuh>

extern "C" __device__ fatlink_element load(void const* in, std::size_t index, void const* state);
extern "C" __device__ bool keep(fatlink_element x, void const* state);
