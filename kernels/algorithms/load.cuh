// SPDX-License-Identifier: Apache-2.0
// The contract load_N/1 for FATLINK_ELEMENT_BYTES = N: elements that are computed from an array of
// any type when an algorithm needs them.
//
// load   the element of N bytes for index `index` of the array `in`. `state` is the launch's user
//        data for this hook, or null; read-only, the same for all threads. Called from divergent
//        code, so it must not synchronize the block or the warp. It may be called more than once
//        for an index, with the same result, and with no other index than those of elements.
#pragma once

#include <fatlink/typed_hooks.cuh>

extern "C" __device__ fatlink_element load(void const* in, std::size_t index, void const* state);
