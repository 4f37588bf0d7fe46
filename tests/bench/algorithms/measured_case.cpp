// SPDX-License-Identifier: Apache-2.0
#include "measured_case.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "fatlink/linker.hpp"
#include "fatlink/prepare.hpp"

namespace algorithm_bench {
namespace {

using cub_calls::algorithm;
using cub_calls::element;
using fatlink::call_argument;
using fatlink::link_mode;

constexpr std::size_t k_bins = 256;
constexpr std::size_t k_key_bits = 32;
constexpr std::size_t k_small = std::size_t{1} << 22;

/// The initial value of the operator argmax.
struct best {
  float value;
  std::int32_t index;
};

std::size_t bytes_of(element type)
{
  switch (type) {
    case element::uint8:
      return 1;
    case element::int32:
    case element::float32:
      return 4;
    case element::pair:
      return sizeof(best);
    case element::matrix:
      return 16;
  }
  return 0;
}

bool is_by_key(algorithm kind)
{
  return kind == algorithm::reduce_by_key || kind == algorithm::scan_by_key ||
         kind == algorithm::unique_by_key || kind == algorithm::run_lengths;
}

bool is_bound(algorithm kind)
{
  return kind == algorithm::lower_bound || kind == algorithm::upper_bound;
}

bool has_second_input(bench_case const& tested)
{
  return tested.kind == algorithm::map || tested.kind == algorithm::merge || is_bound(tested.kind);
}

std::size_t segments_of(bench_case const& tested, std::size_t elements)
{
  auto const has_segments =
      tested.kind == algorithm::segmented_reduce || tested.kind == algorithm::segmented_sort;
  return has_segments ? std::max<std::size_t>(elements / tested.segment, 1) : 0;
}

/// The sizes of a call, without arrays.
cub_calls::arrays sizes_for(bench_case const& tested, std::size_t elements)
{
  return {.n = elements,
          .segments = segments_of(tested, elements),
          .first = tested.first == 0 ? elements / 2 : std::min(tested.first, elements),
          .k = std::min(tested.k, elements),
          .is_special = tested.is_special};
}

/// The bytes of the largest output.
std::size_t output_capacity(bench_case const& tested, std::size_t elements)
{
  auto const has_numbers = tested.kind == algorithm::run_lengths || is_bound(tested.kind);
  auto const bytes = elements * (has_numbers ? sizeof(std::uint64_t) : bytes_of(tested.type));
  return std::max(bytes, k_bins * sizeof(std::uint64_t));
}

struct output {
  void* address;
  std::size_t bytes;
};

/// The results of a call that has finished. `counts`: those of CUB, by which the lengths of outputs
/// are known.
std::vector<output> outputs_of(bench_case const& tested, cub_calls::arrays const& data,
                               unsigned long long const* counts)
{
  constexpr auto k_word = sizeof(std::uint64_t);
  auto const bytes = bytes_of(tested.type);
  switch (tested.kind) {
    case algorithm::reduce:
    case algorithm::transform_reduce:
      return {{data.out, bytes}};
    case algorithm::segmented_reduce:
      return {{data.out, data.segments * bytes}};
    case algorithm::histogram:
      return {{data.out, k_bins * k_word}};
    case algorithm::select:
      return {{data.out, cub_calls::read(counts) * bytes}, {data.count, k_word}};
    case algorithm::partition3: {
      auto const first = cub_calls::read(counts);
      auto const second = cub_calls::read(counts + 1);
      return {{data.out, first * bytes},
              {data.second_out, second * bytes},
              {data.third_out, (data.n - first - second) * bytes},
              {data.count, 2 * k_word}};
    }
    case algorithm::reduce_by_key:
    case algorithm::unique_by_key:
    case algorithm::run_lengths: {
      auto const runs = cub_calls::read(counts);
      return {{data.out_keys, runs * sizeof(int)},
              {data.out, runs * (tested.kind == algorithm::run_lengths ? k_word : bytes)},
              {data.count, k_word}};
    }
    case algorithm::lower_bound:
    case algorithm::upper_bound:
      return {{data.out, data.n * k_word}};
    case algorithm::top_k:
      return {{data.out, data.k * bytes}, {data.second_out, data.k * k_word}};
    default:
      return {{data.out, data.n * bytes}};
  }
}

std::size_t result_bytes(bench_case const& tested, cub_calls::arrays const& data)
{
  std::size_t bytes = 0;
  for (auto const& written : outputs_of(tested, data, data.count)) bytes += written.bytes;
  return bytes;
}

/// What has to be read, each element once.
std::size_t input_bytes(bench_case const& tested, cub_calls::arrays const& data)
{
  auto const bytes = data.n * bytes_of(tested.type);
  auto const key_bytes = is_by_key(tested.kind) ? data.n * sizeof(int) : 0;
  if (tested.kind == algorithm::run_lengths) return key_bytes;
  if (tested.kind == algorithm::unique_by_key)
    return key_bytes + cub_calls::read(data.count) * bytes_of(tested.type);
  if (is_bound(tested.kind) || (tested.kind == algorithm::map && tested.type == element::pair))
    return 2 * bytes;
  return key_bytes + bytes + (data.segments == 0 ? 0 : (data.segments + 1) * sizeof(std::uint64_t));
}

void add_initial(bench_case const& tested, std::vector<call_argument>& arguments)
{
  if (tested.type == element::float32)
    arguments.emplace_back("init", 0.0F);
  else
    arguments.emplace_back("init", best{});
}

std::vector<call_argument> sizes_of(bench_case const& tested, cub_calls::arrays const& data)
{
  if (tested.kind == algorithm::merge) return {{"n1", data.first}, {"n2", data.n - data.first}};
  std::vector<call_argument> sizes{{"n", data.n}};
  if (is_bound(tested.kind)) sizes.emplace_back("m", data.n);
  if (data.segments != 0) sizes.emplace_back("segments", data.segments);
  if (tested.has_longest) sizes.emplace_back("longest", 3 * (data.n / data.segments));
  if (tested.kind == algorithm::histogram) sizes.emplace_back("bins", k_bins);
  if (tested.kind == algorithm::radix_sort) sizes.emplace_back("bits", k_key_bits);
  if (tested.k != 0) sizes.emplace_back("k", data.k);
  return sizes;
}

/// The names that plans give their arrays. Null: there is no such array.
struct array_names {
  char const* in = "in";
  char const* second = nullptr;
  char const* keys = nullptr;
  char const* out = "out";
  char const* out_keys = nullptr;
  char const* second_out = nullptr;
  char const* third_out = nullptr;
  char const* count = nullptr;
  char const* second_count = nullptr;
};

array_names names_of(bench_case const& tested)
{
  switch (tested.kind) {
    case algorithm::select:
      return {.count = "count"};
    case algorithm::histogram:
      return {.out = "counts"};
    case algorithm::map:
      if (tested.type == element::pair) return {.in = "in1", .second = "in2"};
      return {};
    case algorithm::merge:
      return {.in = "in1", .second = "in2"};
    case algorithm::lower_bound:
    case algorithm::upper_bound:
      return {.second = "values"};
    case algorithm::reduce_by_key:
    case algorithm::unique_by_key:
      return {.keys = "keys", .out_keys = "out_keys", .count = "count"};
    case algorithm::scan_by_key:
      return {.keys = "keys"};
    case algorithm::run_lengths:
      return {.in = nullptr,
              .keys = "keys",
              .out = "lengths",
              .out_keys = "out_keys",
              .count = "count"};
    case algorithm::partition3:
      return {.out = "first",
              .second_out = "second",
              .third_out = "third",
              .count = "first_count",
              .second_count = "second_count"};
    case algorithm::top_k:
      return {.second_out = "out_indexes"};
    default:
      return {};
  }
}

/// What the plan of the library takes.
std::vector<call_argument> arguments_of(bench_case const& tested, cub_calls::arrays const& data)
{
  auto arguments = sizes_of(tested, data);
  auto const add = [&](char const* name, void* address) {
    if (name != nullptr) arguments.emplace_back(name, address);
  };
  auto const names = names_of(tested);
  add(names.in, data.in);
  add(names.second, data.second);
  add(names.keys, data.keys);
  add(names.out, data.out);
  add(names.out_keys, data.out_keys);
  add(names.second_out, data.second_out);
  add(names.third_out, data.third_out);
  add(names.count, data.count);
  add(names.second_count, data.count + 1);
  if (data.segments != 0) arguments.emplace_back("offsets", data.offsets);
  if (tested.kind == algorithm::reduce || tested.kind == algorithm::transform_reduce ||
      tested.kind == algorithm::exclusive_scan || tested.kind == algorithm::segmented_reduce)
    add_initial(tested, arguments);
  return arguments;
}

/// Memory of the GPU, released with the object.
class gpu_memory {
 public:
  explicit gpu_memory(std::size_t bytes) : address_(cub_calls::allocate(bytes))
  {
    cub_calls::clear(address_, bytes);
  }
  ~gpu_memory() { cub_calls::release(address_); }
  gpu_memory(gpu_memory const&) = delete;
  gpu_memory& operator=(gpu_memory const&) = delete;
  [[nodiscard]] void* address() const noexcept { return address_; }
  template <typename T>
  [[nodiscard]] T* as() const noexcept
  {
    return static_cast<T*>(address_);
  }

 private:
  void* address_;
};

/// The outputs of a call.
class output_memory {
 public:
  output_memory(bench_case const& tested, std::size_t elements)
      : out_(output_capacity(tested, elements)),
        keys_(is_by_key(tested.kind) ? elements * sizeof(int) : 0),
        second_(second_bytes(tested, elements)),
        third_(tested.kind == algorithm::partition3 ? elements * bytes_of(tested.type) : 0),
        counts_(2 * sizeof(std::uint64_t))
  {
  }
  void set(cub_calls::arrays& data) const
  {
    data.out = out_.address();
    data.out_keys = keys_.as<int>();
    data.second_out = second_.address();
    data.third_out = third_.address();
    data.count = counts_.as<unsigned long long>();
  }

 private:
  static std::size_t second_bytes(bench_case const& tested, std::size_t elements)
  {
    if (tested.kind == algorithm::partition3) return elements * bytes_of(tested.type);
    return tested.kind == algorithm::top_k ? tested.k * sizeof(std::uint64_t) : 0;
  }

  gpu_memory out_;
  gpu_memory keys_;
  gpu_memory second_;
  gpu_memory third_;
  gpu_memory counts_;
};

/// The inputs, filled, and the results of CUB and of fatlink.
class case_data {
 public:
  case_data(bench_case const& tested, std::size_t elements)
      : sizes_(sizes_for(tested, elements)),
        bytes_(elements * bytes_of(tested.type)),
        in_(bytes_),
        second_(has_second_input(tested) ? bytes_ : 0),
        keys_(is_by_key(tested.kind) ? elements * sizeof(int) : 0),
        offsets_((sizes_.segments + 1) * sizeof(std::uint64_t)),
        cub_(tested, elements),
        own_(tested, elements)
  {
    fill_inputs(tested);
    if (is_by_key(tested.kind)) cub_calls::fill_keys(keys_.as<int>(), elements, tested.segment);
    if (sizes_.segments != 0) fill_offsets(tested);
  }

  [[nodiscard]] cub_calls::arrays arrays(bool is_cub) const
  {
    auto data = sizes_;
    data.in = in_.address();
    data.second = second_.address();
    data.keys = keys_.as<int>();
    data.offsets = offsets_.as<unsigned long long>();
    (is_cub ? cub_ : own_).set(data);
    return data;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void fill_inputs(bench_case const& tested) const
  {
    auto const fill = [&](void* array, std::size_t n, unsigned seed, bool is_sorted) {
      if (is_sorted)
        cub_calls::fill_sorted(tested.type, array, n, seed);
      else
        cub_calls::fill(tested.kind, tested.type, array, n, seed);
    };
    auto const is_merge = tested.kind == algorithm::merge;
    fill(in_.address(), is_merge ? sizes_.first : sizes_.n, 1, is_merge || is_bound(tested.kind));
    if (has_second_input(tested))
      fill(second_.address(), is_merge ? sizes_.n - sizes_.first : sizes_.n, 2,
           is_merge || tested.has_sorted_values);
  }
  /// Segments to reduce vary by a factor of two, segments to sort from 1 to twice their mean.
  void fill_offsets(bench_case const& tested) const
  {
    auto const length = sizes_.n / sizes_.segments;
    cub_calls::fill_offsets(offsets_.as<unsigned long long>(), sizes_.segments, sizes_.n,
                            tested.kind == algorithm::segmented_sort ? length : length / 2);
  }

  cub_calls::arrays sizes_;
  std::size_t bytes_;
  gpu_memory in_;
  gpu_memory second_;
  gpu_memory keys_;
  gpu_memory offsets_;
  output_memory cub_;
  output_memory own_;
};

fatlink::prepared_plan prepare(fatlink::device const& device, bench_case const& tested,
                               std::string const& data, link_mode mode)
{
  static fatlink::linker linker;
  auto const file = [&](std::string const& name) { return data + "/" + name + ".fatbin"; };
  fatlink::plan_request request{
      .library = file(tested.library), .transforms = {file(tested.transform)}, .mode = mode};
  if (!tested.key_transform.empty()) request.transforms.emplace_back(file(tested.key_transform));
  return fatlink::prepare(device, linker, request);
}

/// A call of fatlink with scratch memory of its own.
class bound_case {
 public:
  bound_case(fatlink::prepared_plan plan, bench_case const& tested, cub_calls::arrays const& data)
      : plan_(std::move(plan)),
        bytes_(plan_.scratch_bytes(sizes_of(tested, data))),
        scratch_(bytes_),
        call_(plan_.bind(
            arguments_of(tested, data),
            {.address = reinterpret_cast<std::uintptr_t>(scratch_.address()), .bytes = bytes_}))
  {
  }
  void run(cub_calls::stream where) const { call_.run(fatlink::stream_view(where)); }

 private:
  fatlink::prepared_plan plan_;
  std::size_t bytes_;
  gpu_memory scratch_;
  fatlink::bound_plan call_;
};

/// How much of fatlink's results is not as CUB's. Clears them.
unsigned long long compare(bench_case const& tested, cub_calls::arrays const& expected,
                           cub_calls::arrays const& actual)
{
  cub_calls::synchronize();
  if (tested.kind == algorithm::top_k)
    cub_calls::sort_descending(static_cast<float*>(expected.out), expected.k);
  auto const places = outputs_of(tested, expected, expected.count);
  auto const own = outputs_of(tested, actual, expected.count);
  unsigned long long differences = 0;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (tested.kind == algorithm::top_k && i == 1)  // CUB may choose others of equal elements
      differences += cub_calls::wrong_indexes(
          static_cast<float const*>(actual.in), static_cast<float const*>(actual.out),
          static_cast<unsigned long long const*>(own[i].address), actual.n, actual.k);
    else
      differences += cub_calls::differences(places[i].address, own[i].address, places[i].bytes);
  for (auto const& written : own) cub_calls::clear(written.address, written.bytes);
  return differences;
}

}  // namespace

case_times measure_case(bench_case const& tested, std::size_t elements, std::string const& data,
                        int rounds)
{
  auto const gpu = fatlink::open_device("gpu");
  case_data const memory(tested, elements);
  auto cub = memory.arrays(true);
  auto const own = memory.arrays(false);
  cub.scratch_bytes = cub_calls::scratch_bytes(tested.kind, tested.type, cub);
  gpu_memory const cub_scratch(cub.scratch_bytes);
  cub.scratch = cub_scratch.address();
  bound_case const lto(prepare(*gpu, tested, data, link_mode::lto), tested, own);
  bound_case const ptx(prepare(*gpu, tested, data, link_mode::ptx), tested, own);

  auto* const where = cub_calls::create_stream();
  case_times times;
  cub_calls::run(tested.kind, tested.type, cub, where);
  for (auto const* call : {&lto, &ptx}) {
    call->run(where);
    times.differences += compare(tested, cub, own);
  }
  times.bytes = static_cast<double>(input_bytes(tested, cub)) +
                static_cast<double>(result_bytes(tested, cub));
  auto const copied = std::min(static_cast<std::size_t>(times.bytes / 2), memory.bytes());
  auto const medians = cub_calls::median_times(
      {[&](auto* stream) { cub_calls::run(tested.kind, tested.type, cub, stream); },
       [&](auto* stream) { lto.run(stream); }, [&](auto* stream) { ptx.run(stream); },
       [&](auto* stream) { cub_calls::copy(own.out, own.in, copied, stream); }},
      rounds, elements <= k_small ? 20 : 2, cub_calls::is_recordable(tested.kind));
  times.cub_us = medians[0];
  times.lto_us = medians[1];
  times.ptx_us = medians[2];
  times.copy_us = medians[3] * (times.bytes / 2) / static_cast<double>(copied);
  return times;
}

void check_case(bench_case const& tested, std::string const& data)
{
  constexpr std::size_t k_elements = 1000;
  constexpr std::size_t k_array_bytes = 16 * k_elements;
  constexpr std::size_t k_arrays = 9;
  auto const device = fatlink::open_device("cpu");
  auto stream = device->create_stream();
  auto memory = device->allocate<std::byte>(k_arrays * k_array_bytes);
  memory.fill(std::byte{0}, stream);
  auto const place = [&](std::size_t part) {
    return reinterpret_cast<void*>(memory.address() + part * k_array_bytes);
  };
  auto arrays = sizes_for(tested, k_elements);
  arrays.in = place(0);
  arrays.second = place(1);
  arrays.keys = static_cast<int*>(place(2));
  arrays.offsets = static_cast<unsigned long long*>(place(3));
  arrays.out = place(4);
  arrays.out_keys = static_cast<int*>(place(5));
  arrays.second_out = place(6);
  arrays.third_out = place(7);
  arrays.count = static_cast<unsigned long long*>(place(8));
  prepare(*device, tested, data, link_mode::lto).run(stream, arguments_of(tested, arrays));
  stream.synchronize();
}

}  // namespace algorithm_bench
