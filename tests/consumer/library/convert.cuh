// SPDX-License-Identifier: Apache-2.0
// The contract convert/2: how elements are read and how they are written.
#pragma once

extern "C" __device__ float load_element(float const* from, unsigned long long index);
extern "C" __device__ void store_element(float* to, unsigned long long index, float value);
