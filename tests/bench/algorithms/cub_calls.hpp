// SPDX-License-Identifier: Apache-2.0
// The algorithms of CUB with the operators of the shipped transforms, compiled by nvcc as one
// program, and what a comparison with them needs: data, memory, times. Units: bytes, elements,
// microseconds. A failed call of CUDA ends the program. Threads: one.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace cub_calls {

enum class algorithm {
  reduce,            ///< add_float; argmax
  transform_reduce,  ///< sum_squares
  scan,              ///< add_float; argmax
  exclusive_scan,    ///< likewise
  select,            ///< positive_float; score_above
  segmented_reduce,  ///< as reduce
  histogram,         ///< uniform_bins; grid_bins; 256 bins
  map,               ///< scale_add; multiply_complex, of two arrays
  sort,              ///< less_float; less_pair
  radix_sort,        ///< ascending_float32; by_value, whose keys have 32 bits
};

/// The type of the elements: float, or a struct of 8 bytes.
enum class element { float32, pair };

using stream = void*;  ///< a cudaStream_t

/// The arrays of a call, in the memory of the GPU.
struct arrays {
  void* in = nullptr;
  void* second = nullptr;                 ///< the second input of map
  unsigned long long* offsets = nullptr;  ///< of segmented_reduce: segments + 1
  void* out = nullptr;
  unsigned long long* count = nullptr;  ///< of select: how many elements are kept
  void* scratch = nullptr;
  std::size_t scratch_bytes = 0;
  std::size_t n = 0;
  std::size_t segments = 0;
};

/// What run() needs of scratch memory.
std::size_t scratch_bytes(algorithm kind, element type, arrays const& data);
/// Queues one call.
void run(algorithm kind, element type, arrays const& data, stream where);

stream create_stream();
void* allocate(std::size_t bytes);
void release(void* memory);
void clear(void* memory, std::size_t bytes);
/// Queues a copy within the memory of the GPU.
void copy(void* destination, void const* source, std::size_t bytes, stream where);
/// Waits for the work on all streams.
void synchronize();

/// Inputs by which every order of additions gives the same sums (zeros and ones) for folds and
/// scans of float; else random numbers in [-8, 8), of pairs with the index of the element where the
/// operator takes one.
void fill(algorithm kind, element type, void* array, std::size_t n, unsigned seed);
/// Offsets of segments of about equal lengths, which vary by a factor of two.
void fill_offsets(unsigned long long* offsets, std::size_t segments, std::size_t n);

/// How many 4-byte words of two arrays differ.
unsigned long long differences(void const* a, void const* b, std::size_t bytes);
unsigned long long read(unsigned long long const* value);

/// Times of one call of each, medians of `rounds` in which all take turns. `repeats` calls are one
/// CUDA graph, so that the host's launches do not count.
std::vector<double> median_times(std::vector<std::function<void(stream)>> const& calls, int rounds,
                                 int repeats);

/// "NVIDIA H200, driver 13.0, CUB 3.0.1".
char const* describe_machine();

}  // namespace cub_calls
