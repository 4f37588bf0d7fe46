// SPDX-License-Identifier: Apache-2.0
// The contract keep_store_N/1 for FATLINK_ELEMENT_BYTES = N: a predicate of elements of N bytes,
// and what is written for those that it accepts, of any type.
//
// keep    as of keep_N
// store   writes what x becomes as element `index` of the array `out`; `state` is the
//         launch's user data for this hook, or null. Writes this element only
#pragma once

#define FATLINK_CONTRACT keep_store
#include <fatlink/typed_hooks.cuh>

extern "C" __device__ bool keep(fatlink_element x, void const* state);
extern "C" __device__ void store(void* out, std::size_t index, fatlink_element x,
                                 void const* state);
