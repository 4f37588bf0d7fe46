// SPDX-License-Identifier: Apache-2.0
// The contract map1/1: one element of an array from those with its index of other arrays. The hook
// sees arrays and index, so the library knows no types.
//
// out     where the hook writes element `index`; shares no memory with the others
// in   where it reads element `index`
// state   the launch's user data, or null; read-only, the same for all threads
//
// Each index once, in any order, by any thread. Called from divergent code, so it must not
// synchronize the block or the warp.
#pragma once

#include <fatlink/typed_hooks.cuh>

extern "C" __device__ void map_element(void* out, void const* in, std::size_t index,
                                       void const* state);
