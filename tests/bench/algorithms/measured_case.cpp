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
  return type == element::float32 ? sizeof(float) : sizeof(best);
}

std::size_t segments_of(bench_case const& tested, std::size_t elements)
{
  return tested.segment == 0 ? 0 : std::max<std::size_t>(elements / tested.segment, 1);
}

/// The bytes of the output.
std::size_t result_bytes(bench_case const& tested, cub_calls::arrays const& data)
{
  switch (tested.kind) {
    case algorithm::reduce:
    case algorithm::transform_reduce:
      return bytes_of(tested.type);
    case algorithm::segmented_reduce:
      return data.segments * bytes_of(tested.type);
    case algorithm::histogram:
      return k_bins * sizeof(std::uint64_t);
    case algorithm::select:
      return cub_calls::read(data.count) * bytes_of(tested.type);
    default:
      return data.n * bytes_of(tested.type);
  }
}

std::size_t input_bytes(bench_case const& tested, cub_calls::arrays const& data)
{
  auto const bytes = data.n * bytes_of(tested.type);
  if (tested.kind == algorithm::map && tested.type == element::pair) return 2 * bytes;
  return bytes + (data.segments == 0 ? 0 : (data.segments + 1) * sizeof(std::uint64_t));
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
  std::vector<call_argument> sizes{{"n", data.n}};
  if (data.segments != 0) sizes.emplace_back("segments", data.segments);
  if (tested.kind == algorithm::histogram) sizes.emplace_back("bins", k_bins);
  if (tested.kind == algorithm::radix_sort) sizes.emplace_back("bits", k_key_bits);
  return sizes;
}

/// What the plan of the library takes.
std::vector<call_argument> arguments_of(bench_case const& tested, cub_calls::arrays const& data)
{
  auto arguments = sizes_of(tested, data);
  auto const has_two = tested.kind == algorithm::map && tested.type == element::pair;
  arguments.emplace_back(has_two ? "in1" : "in", data.in);
  if (has_two) arguments.emplace_back("in2", data.second);
  arguments.emplace_back(tested.kind == algorithm::histogram ? "counts" : "out", data.out);
  if (tested.kind == algorithm::select) arguments.emplace_back("count", data.count);
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

/// The inputs, filled, and the results of CUB and of fatlink.
class case_data {
 public:
  case_data(bench_case const& tested, std::size_t elements)
      : bytes_(elements * bytes_of(tested.type)),
        segments_(segments_of(tested, elements)),
        in_(bytes_),
        second_(tested.kind == algorithm::map ? bytes_ : 0),
        offsets_((segments_ + 1) * sizeof(std::uint64_t)),
        cub_out_(std::max(bytes_, k_bins * sizeof(std::uint64_t))),
        own_out_(std::max(bytes_, k_bins * sizeof(std::uint64_t))),
        cub_count_(sizeof(std::uint64_t)),
        own_count_(sizeof(std::uint64_t)),
        elements_(elements)
  {
    cub_calls::fill(tested.kind, tested.type, in_.address(), elements, 1);
    if (tested.kind == algorithm::map)
      cub_calls::fill(tested.kind, tested.type, second_.address(), elements, 2);
    if (segments_ != 0)
      cub_calls::fill_offsets(offsets_.as<unsigned long long>(), segments_, elements);
  }

  [[nodiscard]] cub_calls::arrays arrays(bool is_cub) const
  {
    return {.in = in_.address(),
            .second = second_.address(),
            .offsets = offsets_.as<unsigned long long>(),
            .out = (is_cub ? cub_out_ : own_out_).address(),
            .count = (is_cub ? cub_count_ : own_count_).as<unsigned long long>(),
            .n = elements_,
            .segments = segments_};
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  std::size_t segments_;
  gpu_memory in_;
  gpu_memory second_;
  gpu_memory offsets_;
  gpu_memory cub_out_;
  gpu_memory own_out_;
  gpu_memory cub_count_;
  gpu_memory own_count_;
  std::size_t elements_;
};

fatlink::prepared_plan prepare(fatlink::device const& device, bench_case const& tested,
                               std::string const& data, link_mode mode)
{
  static fatlink::linker linker;
  return fatlink::prepare(device, linker,
                          {.library = data + "/" + tested.library + ".fatbin",
                           .transforms = {data + "/" + tested.transform + ".fatbin"},
                           .mode = mode});
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

unsigned long long compare(bench_case const& tested, cub_calls::arrays const& expected,
                           cub_calls::arrays const& actual)
{
  cub_calls::synchronize();
  auto const bytes = result_bytes(tested, expected);
  auto differences = cub_calls::differences(expected.out, actual.out, bytes);
  if (tested.kind == algorithm::select)
    differences += cub_calls::differences(expected.count, actual.count, sizeof(std::uint64_t));
  cub_calls::clear(actual.out, bytes);
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
      rounds, elements <= k_small ? 20 : 2);
  times.cub_us = medians[0];
  times.lto_us = medians[1];
  times.ptx_us = medians[2];
  times.copy_us = medians[3] * (times.bytes / 2) / static_cast<double>(copied);
  return times;
}

void check_case(bench_case const& tested, std::string const& data)
{
  constexpr std::size_t k_elements = 1000;
  auto const device = fatlink::open_device("cpu");
  auto stream = device->create_stream();
  auto memory = device->allocate<std::uint64_t>(6 * k_elements);
  memory.fill(std::byte{0}, stream);
  auto const place = [&](std::size_t part) {
    return reinterpret_cast<void*>(memory.address() + part * k_elements * sizeof(std::uint64_t));
  };
  cub_calls::arrays const arrays{.in = place(0),
                                 .second = place(1),
                                 .offsets = static_cast<unsigned long long*>(place(2)),
                                 .out = place(3),
                                 .count = static_cast<unsigned long long*>(place(4)),
                                 .n = k_elements,
                                 .segments = segments_of(tested, k_elements)};
  prepare(*device, tested, data, link_mode::lto).run(stream, arguments_of(tested, arrays));
  stream.synchronize();
}

}  // namespace algorithm_bench
