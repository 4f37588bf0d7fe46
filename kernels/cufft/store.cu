// SPDX-License-Identifier: Apache-2.0
// The libraries cufft_store_complex to cufft_store_double_real: the callback stores in[i] for
// i < n. Any grid and block size. FATLINK_CALLBACK is the callback, FATLINK_VALUE its value.

extern "C" __global__ void store_elements(FATLINK_VALUE const* in, void* out, unsigned long long n,
                                          void* info)
{
  auto const threads = 1ULL * gridDim.x * blockDim.x;
  for (auto i = 1ULL * blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
    FATLINK_CALLBACK(out, i, in[i], info, nullptr);
}
