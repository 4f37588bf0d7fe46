// SPDX-License-Identifier: Apache-2.0
// The contract apply_transform/1: the hook that the kernel apply_transform calls once per element.
// A transform defines it. fatlink_add_fatbin(… CONTRACT apply_transform) includes this header
// before the transform's source, so a definition with another type does not compile.
//
// The result of the hook must depend only on its argument: the order of the elements, and the
// thread that computes an element, are unspecified. The hook may be called from divergent code,
// so it must not synchronise the block or the warp.
#pragma once

extern "C" __device__ float user_transform(float x);
