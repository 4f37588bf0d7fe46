// SPDX-License-Identifier: Apache-2.0
// The contract less_N/1 for FATLINK_ELEMENT_BYTES = N: an order of elements of N bytes.
//
// less   whether a is before b: a strict weak order. less(a, a) is false; elements of which none is
//        less than the other are equal, and equality is transitive. Called from divergent code, so
//        it must not synchronize the block or the warp.
#pragma once

#include <fatlink/typed_hooks.cuh>

extern "C" __device__ bool less(fatlink_element a, fatlink_element b);
