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
  reduce_by_key,     ///< keys: int32. add_float, add_uint8; argmax; multiply_matrices
  scan_by_key,       ///< likewise
  unique_by_key,     ///< keys: int32
  run_lengths,       ///< keys: int32
  merge,             ///< less_float; less_pair
  lower_bound,       ///< likewise
  upper_bound,       ///< likewise
  partition3,        ///< signs_float; by_range; residues_uint8
  top_k,             ///< descending_float32, with indexes
  segmented_sort,    ///< less_float
};

/// The type of the elements: a number, a struct of 8 bytes, or a struct of 16 bytes.
enum class element { uint8, int32, float32, pair, matrix };

using stream = void*;  ///< a cudaStream_t

/// The arrays of a call, in the memory of the GPU.
struct arrays {
  void* in = nullptr;
  void* second = nullptr;                 ///< the second input of map and merge; values of bounds
  int* keys = nullptr;                    ///< sorted
  unsigned long long* offsets = nullptr;  ///< of segments: segments + 1
  void* out = nullptr;                    ///< of run_lengths and bounds: unsigned long long
  int* out_keys = nullptr;
  void* second_out = nullptr;           ///< the second part; of top_k the indexes
  void* third_out = nullptr;            ///< the third part
  unsigned long long* count = nullptr;  ///< of outputs of variable length; of partition3 two
  void* scratch = nullptr;
  std::size_t scratch_bytes = 0;
  std::size_t n = 0;  ///< of merge: of both arrays; of bounds: also the values
  std::size_t segments = 0;
  std::size_t first = 0;  ///< of merge: the elements of the first array
  std::size_t k = 0;
  bool is_special = false;  ///< CUB calls its functions for special cases: see bench_case
};

/// What run() needs of scratch memory.
std::size_t scratch_bytes(algorithm kind, element type, arrays const& data);
/// Queues one call. CUB's segmented_sort waits for the GPU, so that no graph can record it.
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
/// scans of float; else random numbers, floats in [-8, 8), of pairs with the index of the element
/// where the operator takes one. A third of the floats of partition3 are zeros.
void fill(algorithm kind, element type, void* array, std::size_t n, unsigned seed);
/// Ascending numbers in [-8, 8), of float32 or pair.
void fill_sorted(element type, void* array, std::size_t n, unsigned seed);
/// Ascending keys in runs of random lengths with this mean. 0: 8 runs have 15/16 of the elements,
/// the others 3 on average.
void fill_keys(int* keys, std::size_t n, std::size_t mean);
/// Offsets of segments of equal lengths, each moved by less than `most_shift`, which is at most the
/// length.
void fill_offsets(unsigned long long* offsets, std::size_t segments, std::size_t n,
                  std::size_t most_shift);
void sort_descending(float* array, std::size_t n);

/// How many 4-byte words of two arrays differ; the last word may have fewer bytes.
unsigned long long differences(void const* a, void const* b, std::size_t bytes);
/// How many indexes of the elements `out` in `in` are wrong, or not ascending for equal elements.
unsigned long long wrong_indexes(float const* in, float const* out,
                                 unsigned long long const* indexes, std::size_t n, std::size_t k);
unsigned long long read(unsigned long long const* value);

/// Whether CUDA graphs can record the call.
bool is_recordable(algorithm kind);
/// Times of one call of each, medians of `rounds` in which all take turns. With `is_recorded`,
/// `repeats` calls are one CUDA graph, so that the host's launches do not count.
std::vector<double> median_times(std::vector<std::function<void(stream)>> const& calls, int rounds,
                                 int repeats, bool is_recorded);

/// "NVIDIA H200, driver 13.0, CUB 3.0.1".
char const* describe_machine();

}  // namespace cub_calls
