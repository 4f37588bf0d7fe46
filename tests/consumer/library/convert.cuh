// SPDX-License-Identifier: Apache-2.0
// The contract convert/2: hooks that read and write an element.
#pragma once

extern "C" __device__ float load_element(float const* in, unsigned long long index);
extern "C" __device__ void store_element(float* out, unsigned long long index, float value);
