// SPDX-License-Identifier: Apache-2.0
// Kernels of the kinds that CUDA programs consist of, on a GPU.
