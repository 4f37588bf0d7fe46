// SPDX-License-Identifier: Apache-2.0
// The state of the transforms for convert: a factor. No state: 1.
#pragma once

struct conversion_state {
  float scale;
};

static __device__ float scale_of(void const* state)
{
  return state == nullptr ? 1.0F : static_cast<conversion_state const*>(state)->scale;
}
