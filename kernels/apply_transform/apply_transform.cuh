// SPDX-License-Identifier: Apache-2.0
// The contract apply_transform/1: the hook that the kernel apply_transform calls once for every
// element. A transform defines it; fatlink_add_fatbin(… CONTRACT apply_transform) includes this
// header before the transform's source, so that another type does not compile.
//
// The hook must give the same result for the same argument, whichever thread asks: the kernel
// promises no order and no thread for an element. It may be called from divergent code, so it
// must not synchronise the block or the warp.
#pragma once

extern "C" __device__ float user_transform(float x);
