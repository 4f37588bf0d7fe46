// SPDX-License-Identifier: Apache-2.0
// The contract convert/1: how the kernels of `convert` read and write their arrays. Each hook sees
// the array, the index of one element and the user's state, as the callbacks of cuFFT do, so the
// library knows no element type: a pair of transforms converts any type to any other.
//
// A hook may be left out: then the array holds float.
//
// in, out   the array as the caller gave it, perhaps a slice: aligned to its elements only
// index     of the element: the hook reads or writes this element only
// state     the launch's user data for this hook, or null; read-only, the same for all threads
//
// Each index is read once and written once, in any order, by any thread. The hooks may be called
// from divergent code, so they must not synchronize the block or the warp.
#pragma once

#include <cstddef>

extern "C" __device__ float load_element(void const* in, std::size_t index, void const* state);
extern "C" __device__ void store_element(void* out, std::size_t index, float value,
                                         void const* state);
