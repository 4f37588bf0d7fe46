// SPDX-License-Identifier: Apache-2.0
// Data in the memory of the GPU, and times of calls.
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cstdint>
#include <cub/version.cuh>
#include <string>

#include "cub_calls.hpp"
#include "cuda_check.cuh"

namespace cub_calls {
namespace {

constexpr unsigned k_threads = 256;

__host__ __device__ unsigned mixed(unsigned long long i)
{
  i ^= i >> 33;
  i *= 0xff51afd7ed558ccdULL;
  i ^= i >> 33;
  i *= 0xc4ceb9fe1a85ec53ULL;
  i ^= i >> 33;
  return static_cast<unsigned>(i);
}

__device__ float random_float(unsigned long long i)
{
  return static_cast<float>(mixed(i) >> 8) * (1.0F / 1048576.0F) - 8.0F;
}

/// Sums of them are exact: one in 32 is 1.
__global__ void fill_bits(float* out, std::size_t n, unsigned long long seed)
{
  for (auto i = blockIdx.x * std::size_t{k_threads} + threadIdx.x; i < n;
       i += gridDim.x * std::size_t{k_threads})
    out[i] = mixed(i + seed) % 32 == 0 ? 1.0F : 0.0F;
}

__global__ void fill_floats(float* out, std::size_t n, unsigned long long seed)
{
  for (auto i = blockIdx.x * std::size_t{k_threads} + threadIdx.x; i < n;
       i += gridDim.x * std::size_t{k_threads})
    out[i] = random_float(i + seed);
}

struct indexed {
  float value;
  int index;
};

__global__ void fill_pairs(indexed* out, std::size_t n, unsigned long long seed)
{
  for (auto i = blockIdx.x * std::size_t{k_threads} + threadIdx.x; i < n;
       i += gridDim.x * std::size_t{k_threads})
    out[i] = {random_float(i + seed), static_cast<int>(i)};
}

__global__ void fill_signs(float* out, std::size_t n, unsigned long long seed)
{
  for (auto i = blockIdx.x * std::size_t{k_threads} + threadIdx.x; i < n;
       i += gridDim.x * std::size_t{k_threads})
    out[i] = mixed(~(i + seed)) % 3 == 0 ? 0.0F : random_float(i + seed);
}

template <typename Number>
__global__ void fill_integers(Number* out, std::size_t n, unsigned long long seed)
{
  for (auto i = blockIdx.x * std::size_t{k_threads} + threadIdx.x; i < n;
       i += gridDim.x * std::size_t{k_threads})
    out[i] = static_cast<Number>(mixed(i + seed));
}

/// Number i of n ascending ones: random in the i-th of n parts of [-8, 8).
__device__ float ascending_float(std::size_t i, std::size_t n, unsigned long long seed)
{
  auto const place = static_cast<double>(i) + mixed(i + seed) * (1.0 / 4294967296.0);
  return static_cast<float>(place / static_cast<double>(n) * 16.0 - 8.0);
}

__global__ void fill_ascending(float* out, std::size_t n, unsigned long long seed)
{
  for (auto i = blockIdx.x * std::size_t{k_threads} + threadIdx.x; i < n;
       i += gridDim.x * std::size_t{k_threads})
    out[i] = ascending_float(i, n, seed);
}

__global__ void fill_ascending(indexed* out, std::size_t n, unsigned long long seed)
{
  for (auto i = blockIdx.x * std::size_t{k_threads} + threadIdx.x; i < n;
       i += gridDim.x * std::size_t{k_threads})
    out[i] = {ascending_float(i, n, seed), static_cast<int>(i)};
}

/// 1 where a run of keys begins.
__global__ void mark_heads(int* keys, std::size_t n, std::size_t mean)
{
  auto const part = n / 8 + 1;
  for (auto i = blockIdx.x * std::size_t{k_threads} + threadIdx.x; i < n;
       i += gridDim.x * std::size_t{k_threads}) {
    if (mean != 0)
      keys[i] = mixed(i) % mean == 0 ? 1 : 0;
    else if (i % part <= part / 16)
      keys[i] = i % part == part / 16 || mixed(i) % 3 == 0 ? 1 : 0;
    else
      keys[i] = 0;
  }
}

__global__ void write_offsets(unsigned long long* offsets, std::size_t segments, std::size_t n,
                              std::size_t most_shift)
{
  auto const i = blockIdx.x * std::size_t{k_threads} + threadIdx.x;
  if (i > segments) return;
  auto const length = n / segments;
  auto const shift = i == 0 || i == segments || most_shift == 0 ? 0 : mixed(i) % most_shift;
  offsets[i] = i == segments ? n : i * length + shift;
}

__global__ void count_differences(unsigned const* a, unsigned const* b, std::size_t bytes,
                                  unsigned long long* count)
{
  unsigned long long sum = 0;
  for (auto i = blockIdx.x * std::size_t{k_threads} + threadIdx.x; i < bytes / 4;
       i += gridDim.x * std::size_t{k_threads})
    sum += a[i] != b[i] ? 1 : 0;
  if (blockIdx.x == 0 && threadIdx.x == 0 && bytes % 4 != 0) {
    auto const shift = 32 - 8 * (bytes % 4);
    sum += (a[bytes / 4] << shift) != (b[bytes / 4] << shift) ? 1 : 0;
  }
  if (sum != 0) atomicAdd(count, sum);
}

__global__ void count_wrong_indexes(float const* in, float const* out,
                                    unsigned long long const* indexes, std::size_t n, std::size_t k,
                                    unsigned long long* count)
{
  unsigned long long sum = 0;
  for (auto i = blockIdx.x * std::size_t{k_threads} + threadIdx.x; i < k;
       i += gridDim.x * std::size_t{k_threads}) {
    auto const index = indexes[i];
    auto const is_element = index < n && in[index] == out[i];
    auto const is_after = i == 0 || out[i - 1] != out[i] || indexes[i - 1] < index;
    sum += is_element && is_after ? 0 : 1;
  }
  if (sum != 0) atomicAdd(count, sum);
}

bool adds(algorithm kind)
{
  return kind == algorithm::reduce || kind == algorithm::transform_reduce ||
         kind == algorithm::scan || kind == algorithm::exclusive_scan ||
         kind == algorithm::segmented_reduce || kind == algorithm::reduce_by_key ||
         kind == algorithm::scan_by_key;
}

/// Whether the operator takes pairs of a value and an index, not of two floats.
bool has_index(algorithm kind)
{
  return kind != algorithm::map && kind != algorithm::histogram;
}

cudaGraphExec_t record(std::function<void(stream)> const& call, int repeats, cudaStream_t where)
{
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(where, cudaStreamCaptureModeThreadLocal), "recording a graph");
  for (int i = 0; i < repeats; ++i) call(where);
  check(cudaStreamEndCapture(where, &graph), "recording a graph");
  check(cudaGraphInstantiate(&executable, graph, 0), "making a graph");
  check(cudaGraphDestroy(graph), "making a graph");
  return executable;
}

using queued_work = std::function<void(cudaStream_t)>;

double time_of(queued_work const& queue, cudaStream_t where, cudaEvent_t begin, cudaEvent_t end)
{
  float ms = 0;
  check(cudaEventRecord(begin, where), "timing");
  queue(where);
  check(cudaEventRecord(end, where), "timing");
  check(cudaStreamSynchronize(where), "running a call");
  check(cudaEventElapsedTime(&ms, begin, end), "timing");
  return static_cast<double>(ms) * 1e3;
}

}  // namespace

stream create_stream()
{
  cudaStream_t created = nullptr;
  check(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking), "creating a stream");
  return created;
}

void* allocate(std::size_t bytes)
{
  void* memory = nullptr;
  check(cudaMalloc(&memory, std::max<std::size_t>(bytes, 256)), "allocating");
  return memory;
}

void release(void* memory)
{
  check(cudaFree(memory), "releasing memory");
}

void clear(void* memory, std::size_t bytes)
{
  check(cudaMemset(memory, 0, bytes), "clearing memory");
  synchronize();
}

void copy(void* destination, void const* source, std::size_t bytes, stream where)
{
  check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDeviceToDevice,
                        static_cast<cudaStream_t>(where)),
        "copying");
}

void synchronize()
{
  check(cudaDeviceSynchronize(), "running on the GPU");
}

void fill(algorithm kind, element type, void* array, std::size_t n, unsigned seed)
{
  auto const first = std::uint64_t{seed} << 40;
  if (type == element::uint8)
    fill_integers<<<4096, k_threads>>>(static_cast<std::uint8_t*>(array), n, first);
  else if (type == element::matrix)
    fill_integers<<<4096, k_threads>>>(static_cast<unsigned*>(array), 4 * n, first);
  else if (type == element::pair && has_index(kind))
    fill_pairs<<<4096, k_threads>>>(static_cast<indexed*>(array), n, first);
  else if (type == element::pair)
    fill_floats<<<4096, k_threads>>>(static_cast<float*>(array), 2 * n, first);
  else if (adds(kind))
    fill_bits<<<4096, k_threads>>>(static_cast<float*>(array), n, first);
  else if (kind == algorithm::partition3)
    fill_signs<<<4096, k_threads>>>(static_cast<float*>(array), n, first);
  else
    fill_floats<<<4096, k_threads>>>(static_cast<float*>(array), n, first);
  synchronize();
}

void fill_sorted(element type, void* array, std::size_t n, unsigned seed)
{
  auto const first = std::uint64_t{seed} << 40;
  if (type == element::pair)
    fill_ascending<<<4096, k_threads>>>(static_cast<indexed*>(array), n, first);
  else
    fill_ascending<<<4096, k_threads>>>(static_cast<float*>(array), n, first);
  synchronize();
}

void fill_keys(int* keys, std::size_t n, std::size_t mean)
{
  mark_heads<<<4096, k_threads>>>(keys, n, mean);
  thrust::inclusive_scan(thrust::device, keys, keys + n, keys);
  synchronize();
}

void fill_offsets(unsigned long long* offsets, std::size_t segments, std::size_t n,
                  std::size_t most_shift)
{
  auto const blocks = static_cast<unsigned>(segments / k_threads + 1);
  write_offsets<<<blocks, k_threads>>>(offsets, segments, n, most_shift);
  synchronize();
}

void sort_descending(float* array, std::size_t n)
{
  thrust::sort(thrust::device, array, array + n, thrust::greater<float>());
  synchronize();
}

unsigned long long differences(void const* a, void const* b, std::size_t bytes)
{
  auto* const count = static_cast<unsigned long long*>(allocate(sizeof(unsigned long long)));
  clear(count, sizeof(unsigned long long));
  count_differences<<<4096, k_threads>>>(static_cast<unsigned const*>(a),
                                         static_cast<unsigned const*>(b), bytes, count);
  auto const total = read(count);
  release(count);
  return total;
}

unsigned long long wrong_indexes(float const* in, float const* out,
                                 unsigned long long const* indexes, std::size_t n, std::size_t k)
{
  auto* const count = static_cast<unsigned long long*>(allocate(sizeof(unsigned long long)));
  clear(count, sizeof(unsigned long long));
  count_wrong_indexes<<<4096, k_threads>>>(in, out, indexes, n, k, count);
  auto const total = read(count);
  release(count);
  return total;
}

unsigned long long read(unsigned long long const* value)
{
  unsigned long long result = 0;
  synchronize();
  check(cudaMemcpy(&result, value, sizeof(result), cudaMemcpyDeviceToHost), "reading");
  return result;
}

bool is_recordable(algorithm kind)
{
  return kind != algorithm::segmented_sort;
}

std::vector<double> median_times(std::vector<std::function<void(stream)>> const& calls, int rounds,
                                 int repeats, bool is_recorded)
{
  auto* const where = static_cast<cudaStream_t>(create_stream());
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin), "creating an event");
  check(cudaEventCreate(&end), "creating an event");
  std::vector<cudaGraphExec_t> graphs;
  std::vector<queued_work> work;
  for (auto const& call : calls) {
    if (is_recorded) {
      auto* const graph = graphs.emplace_back(record(call, repeats, where));
      work.emplace_back(
          [graph](auto to) { check(cudaGraphLaunch(graph, to), "launching a graph"); });
    } else {
      work.emplace_back([&call, repeats](auto to) {
        for (int i = 0; i < repeats; ++i) call(to);
      });
    }
  }
  std::vector<std::vector<double>> times(calls.size());
  for (int round = -2; round < rounds; ++round)  // two rounds warm up
    for (std::size_t i = 0; i < work.size(); ++i) {
      auto const us = time_of(work[i], where, begin, end) / repeats;
      if (round >= 0) times[i].push_back(us);
    }
  std::vector<double> medians;
  for (auto& list : times) {
    std::sort(list.begin(), list.end());
    medians.push_back(list[list.size() / 2]);
  }
  for (auto const graph : graphs) check(cudaGraphExecDestroy(graph), "releasing a graph");
  check(cudaEventDestroy(begin), "releasing an event");
  check(cudaEventDestroy(end), "releasing an event");
  check(cudaStreamDestroy(where), "releasing a stream");
  return medians;
}

char const* describe_machine()
{
  static std::string text;
  cudaDeviceProp facts{};
  int driver = 0;
  check(cudaGetDeviceProperties(&facts, 0), "reading facts about the GPU");
  check(cudaDriverGetVersion(&driver), "reading the driver's version");
  text = std::string(facts.name) + ", driver " + std::to_string(driver / 1000) + "." +
         std::to_string(driver % 1000 / 10) + ", CUB " + std::to_string(CUB_MAJOR_VERSION) + "." +
         std::to_string(CUB_MINOR_VERSION) + "." + std::to_string(CUB_SUBMINOR_VERSION);
  return text.c_str();
}

}  // namespace cub_calls
