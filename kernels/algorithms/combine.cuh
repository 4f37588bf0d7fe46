// SPDX-License-Identifier: Apache-2.0
// The contract combine_N/1 for FATLINK_ELEMENT_BYTES = N: a binary operator of elements of N bytes.
//
// combine   a and b to one: associative, not necessarily commutative. a is before b in the array.
//           Called from divergent code, so it must not synchronize the block or the warp. It is
//           also called with other elements of the array, and the result is discarded, so it must
//           have no effects.
#pragma once

#include <fatlink/typed_hooks.cuh>

extern "C" __device__ fatlink_element combine(fatlink_element a, fatlink_element b);
