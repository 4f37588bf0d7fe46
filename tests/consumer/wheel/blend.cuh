// SPDX-License-Identifier: 0BSD
// The contract blend/1: a hook that blends two values. It is called once for each element, in any
// order, and must not synchronize.
#pragma once

/// The blend of `a` and `b`.
extern "C" __device__ float blend_values(float a, float b);
