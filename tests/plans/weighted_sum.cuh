// SPDX-License-Identifier: Apache-2.0
// The contract weighted_sum/1: two hooks, one of them with a state.
#pragma once

struct range {
  float low;
  int stride;
};

/// The weight of `x`. `state`: the user's data, or null.
extern "C" __device__ float weigh(float x, void const* state);
/// Merges two weighted sums: associative.
extern "C" __device__ float merge(float a, float b);
