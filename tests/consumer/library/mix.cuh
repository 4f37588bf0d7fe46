// SPDX-License-Identifier: 0BSD
// The contract mix/1: two hooks that mix two signals. Each sample is mixed once, in any order, by
// any thread; the hooks may be called from divergent code, so they must not synchronize.
#pragma once

/// The factors of the two signals.
struct gains {
  float left;
  float right;
};

/// A sample of both signals, mixed.
extern "C" __device__ float mix_samples(float left, float right, gains factors);
/// The mixed sample `x` as it is written. `state`: the launch's user data, or null.
extern "C" __device__ float shape_sample(float x, void const* state);
