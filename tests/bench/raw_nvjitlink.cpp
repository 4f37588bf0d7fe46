// SPDX-License-Identifier: Apache-2.0
// The baseline for fatlink: the same job as `fatlink run --mode lto` on the shipped pair, written
// directly against nvJitLink and the driver, as in the vendor's sample, without checks and without
// a cache. Prints JSON when the results are verified, with the time that opening the GPU took.
//   raw_nvjitlink LIBRARY.fatbin relu_poly.fatbin
#include <cuda.h>
#include <nvJitLink.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr std::size_t k_count = 65536;

void check(bool good, char const* what)
{
  if (good) return;
  std::fprintf(stderr, "raw_nvjitlink: %s failed\n", what);
  std::exit(1);
}

std::vector<char> link(char** files, std::string const& arch)
{
  char const* options[] = {arch.c_str(), "-lto"};
  nvJitLinkHandle linker = nullptr;
  check(nvJitLinkCreate(&linker, 2, options) == NVJITLINK_SUCCESS, "nvJitLinkCreate");
  for (int i = 0; i < 2; ++i)
    check(nvJitLinkAddFile(linker, NVJITLINK_INPUT_FATBIN, files[i]) == NVJITLINK_SUCCESS,
          "nvJitLinkAddFile");
  check(nvJitLinkComplete(linker) == NVJITLINK_SUCCESS, "nvJitLinkComplete");
  std::size_t size = 0;
  check(nvJitLinkGetLinkedCubinSize(linker, &size) == NVJITLINK_SUCCESS, "the cubin's size");
  std::vector<char> cubin(size);
  check(nvJitLinkGetLinkedCubin(linker, cubin.data()) == NVJITLINK_SUCCESS, "the cubin");
  nvJitLinkDestroy(&linker);
  return cubin;
}

bool is_right(float x, float actual)
{
  auto const exact = std::fmax(0.0, static_cast<double>(x) * x + 3.0 * x - 1.0);
  return std::fabs(actual - exact) <= 1e-4 * std::fmax(1.0, std::fabs(exact));
}

}  // namespace

int main(int count, char** words)
{
  check(count == 3, "usage");
  auto const start = std::chrono::steady_clock::now();
  CUdevice device = 0;
  CUcontext context = nullptr;
  int major = 0;
  int minor = 0;
  check(cuInit(0) == CUDA_SUCCESS, "cuInit");
  check(cuDeviceGet(&device, 0) == CUDA_SUCCESS, "cuDeviceGet");
  cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  check(cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS, "the context");
  cuCtxSetCurrent(context);
  auto const device_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  auto const cubin = link(words + 1, "-arch=sm_" + std::to_string(major * 10 + minor));

  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  check(cuModuleLoadData(&module, cubin.data()) == CUDA_SUCCESS, "cuModuleLoadData");
  check(cuModuleGetFunction(&kernel, module, "apply_transform") == CUDA_SUCCESS, "the kernel");
  std::vector<float> in(k_count);
  for (std::size_t i = 0; i < k_count; ++i) in[i] = (static_cast<float>(i) - 32768.0F) / 4096.0F;
  CUdeviceptr from = 0;
  CUdeviceptr to = 0;
  check(cuMemAlloc(&from, k_count * 4) == CUDA_SUCCESS &&
            cuMemAlloc(&to, k_count * 4) == CUDA_SUCCESS,
        "cuMemAlloc");
  cuMemcpyHtoD(from, in.data(), k_count * 4);
  auto elements = k_count;
  void* arguments[] = {&from, &to, &elements};
  check(cuLaunchKernel(kernel, k_count / 1024, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr) ==
            CUDA_SUCCESS,
        "cuLaunchKernel");
  std::vector<float> out(k_count);
  check(cuMemcpyDtoH(out.data(), to, k_count * 4) == CUDA_SUCCESS, "the kernel's run");
  for (std::size_t i = 0; i < k_count; ++i) check(is_right(in[i], out[i]), "verifying");
  std::printf("{\"verified\": true, \"device_ms\": %f}\n", device_ms);
  std::fflush(stdout);
  return 0;
}
