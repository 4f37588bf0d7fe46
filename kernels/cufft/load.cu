// SPDX-License-Identifier: Apache-2.0
// The libraries cufft_load_complex to cufft_load_double_real: out[i] is what the callback loads for
// i < n. Any grid and block size. FATLINK_CALLBACK is the callback, FATLINK_VALUE its result.

extern "C" __global__ void load_elements(void* in, FATLINK_VALUE* out, unsigned long long n,
                                         void* info)
{
  auto const threads = 1ULL * gridDim.x * blockDim.x;
  for (auto i = 1ULL * blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
    out[i] = FATLINK_CALLBACK(in, i, info, nullptr);
}
