// SPDX-License-Identifier: Apache-2.0
// The contract reduce/1: the binary operator by which an array is folded.
#pragma once

/// Associative and commutative; called by any thread, for numbers and for results of other calls.
extern "C" __device__ float combine(float a, float b);
