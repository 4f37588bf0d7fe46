// SPDX-License-Identifier: Apache-2.0
// The contract equal_N/1 for FATLINK_ELEMENT_BYTES = N: whether two elements of N bytes are equal.
//
// equal   whether b is equal to a, the element before it. Called once for each element except the
//         first, from divergent code, so it must not synchronize the block or the warp.
#pragma once

#include <fatlink/typed_hooks.cuh>

extern "C" __device__ bool equal(fatlink_element a, fatlink_element b);
