// SPDX-License-Identifier: Apache-2.0
// Launches a kernel that fatlink links on a stream of cudaStreamCreate, with memory of cudaMalloc,
// between asynchronous copies of both libraries, by fatlink and by cudaLaunchKernel, and checks the
// results. Exits 77, with the reason, where there is no GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fatlink/device.hpp>
#include <span>
#include <string>
#include <vector>

namespace {

constexpr std::size_t k_count = 100'000;
constexpr int k_skipped = 77;

void check(cudaError_t code, char const* call)
{
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(code));
  std::exit(1);
}

std::vector<float> inputs()
{
  std::vector<float> values(k_count);
  for (std::size_t i = 0; i < k_count; ++i) values[i] = static_cast<float>(i % 2000) / 250 - 4;
  return values;
}

/// Whether every result is relu_poly of its input: max(0, x * x + 3 * x - 1).
bool verify(std::span<float const> values, std::span<float const> results)
{
  for (std::size_t i = 0; i < k_count; ++i) {
    auto const x = static_cast<double>(values[i]);
    auto const expected = std::max(0.0, x * x + 3 * x - 1);
    if (std::abs(static_cast<double>(results[i]) - expected) <= 1e-5) continue;
    std::fprintf(stderr, "element %zu: f(%g) is %g, expected %g\n", i, x,
                 static_cast<double>(results[i]), expected);
    return false;
  }
  return true;
}

using kernel = fatlink::kernel<void(float const*, float*, std::size_t)>;

/// Memory and copies of the runtime; the runtime waits.
bool run_with_runtime_memory(kernel const& code, cudaStream_t stream)
{
  auto const bytes = k_count * sizeof(float);
  float *input = nullptr, *output = nullptr, *host = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&input), bytes), "cudaMalloc");
  check(cudaMalloc(reinterpret_cast<void**>(&output), bytes), "cudaMalloc");
  check(cudaMallocHost(reinterpret_cast<void**>(&host), 2 * bytes), "cudaMallocHost");
  auto const values = inputs();
  std::copy(values.begin(), values.end(), host);
  check(cudaMemcpyAsync(input, host, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  code.launch(fatlink::stream_view(stream), fatlink::elementwise_shape(k_count), input, output,
              k_count);
  check(cudaMemcpyAsync(host + k_count, output, bytes, cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  auto const verified = verify(values, {host + k_count, k_count});
  check(cudaFree(input), "cudaFree");
  check(cudaFree(output), "cudaFree");
  check(cudaFreeHost(host), "cudaFreeHost");
  return verified;
}

/// Memory and copies of fatlink on the runtime's stream, timed by events of fatlink.
bool run_with_fatlink_memory(fatlink::device const& device, kernel const& code, cudaStream_t stream)
{
  fatlink::stream_view const borrowed(stream);
  auto const values = inputs();
  std::vector<float> results(k_count);
  auto input = device.allocate<float>(k_count);
  auto output = device.allocate<float>(k_count);
  auto start = device.create_event();
  auto stop = device.create_event();
  input.write(values, borrowed);
  start.record(borrowed);
  code.launch(borrowed, fatlink::elementwise_shape(k_count), input.data(), output.data(), k_count);
  stop.record(borrowed);
  output.read(results, borrowed);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return stop.ms_since(start) > 0 && verify(values, results);
}

/// A launch of the runtime, with the handle that it finds in the loaded image.
bool run_by_the_runtime(fatlink::device const& device, fatlink::loaded_module const& module,
                        cudaStream_t stream)
{
  auto const code = static_cast<cudaLibrary_t>(module.native_handle());
  cudaKernel_t found = nullptr;
  check(cudaLibraryGetKernel(&found, code, "apply_transform"), "cudaLibraryGetKernel");
  if (found != module.find_kernel("apply_transform").native_kernel()) return false;
  auto const values = inputs();
  std::vector<float> results(k_count);
  auto input = device.allocate<float>(k_count);
  auto const output = device.allocate<float>(k_count);
  input.write(values);
  float const* const in = input.data();
  float* const out = output.data();
  auto count = k_count;
  void* arguments[] = {const_cast<float const**>(&in), const_cast<float**>(&out), &count};
  auto const shape = fatlink::elementwise_shape(k_count);
  check(cudaLaunchKernel(found, dim3(shape.grid.x), dim3(shape.block.x), arguments, 0, stream),
        "cudaLaunchKernel");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  output.read(results);
  return verify(values, results);
}

}  // namespace

int main(int, char** arguments)
try {
  int count = 0;
  if (auto const code = cudaGetDeviceCount(&count); code != cudaSuccess || count == 0) {
    std::printf("skipped: no GPU: %s\n", cudaGetErrorString(code));
    return k_skipped;
  }
  check(cudaSetDevice(0), "cudaSetDevice");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  auto const share = std::string(arguments[1]);
  auto const device = fatlink::open_device("gpu:0");
  fatlink::linker linker;
  for (auto const mode : {fatlink::link_mode::ptx, fatlink::link_mode::lto}) {
    auto const module =
        fatlink::link_and_load(*device, linker,
                               {fatlink::fatbin::find(share + "/apply_transform.fatbin"),
                                fatlink::fatbin::find(share + "/relu_poly.fatbin")},
                               mode);
    auto const code = module.kernel<void(float const*, float*, std::size_t)>("apply_transform");
    if (code.native_handle() == nullptr || !run_with_runtime_memory(code, stream) ||
        !run_with_fatlink_memory(*device, code, stream) ||
        !run_by_the_runtime(*device, module, stream))
      return 1;
    std::printf("%s: %zu elements verified\n", to_string(mode), k_count);
  }
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  return 0;
} catch (fatlink::error const& failure) {
  std::fprintf(stderr, "%s\n%s\n", failure.what(), failure.details().hint.c_str());
  return 2;
}
