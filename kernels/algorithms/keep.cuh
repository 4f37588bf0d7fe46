// SPDX-License-Identifier: Apache-2.0
// The contract keep_N/1 for FATLINK_ELEMENT_BYTES = N: a predicate of elements of N bytes.
//
// keep   whether x is kept. `state` is the launch's user data, or null; read-only, the same for all
//        threads. Called once for each element, from divergent code, so it must not synchronize the
//        block or the warp
#pragma once

#include <fatlink/typed_hooks.cuh>

extern "C" __device__ bool keep(fatlink_element x, void const* state);
