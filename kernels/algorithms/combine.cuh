// SPDX-License-Identifier: Apache-2.0
// The contract combine_N/1 for FATLINK_ELEMENT_BYTES = N: a binary operator of elements of N bytes.
//
// combine   a and b to one: associative, not necessarily commutative. a is before b in the array.
//           Called from divergent code, so it must not synchronize the block or the warp. Lanes of
//           a warp without elements of their own may call it with elements of others.
#pragma once

#include <fatlink/typed_hooks.cuh>

extern "C" __device__ fatlink_element combine(fatlink_element a, fatlink_element b);
