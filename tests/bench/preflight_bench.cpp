// SPDX-License-Identifier: Apache-2.0
// Time to read and check fatbins of many symbols: a library with N hooks and a transform that
// defines them, or N others. Each stage reports its growth with N.
#include <benchmark/benchmark.h>

#include <string>

#include "fatlink/preflight.hpp"
#include "interpreter/machine.hpp"
#include "toolkit/link_in_process.hpp"

using namespace fatlink;

namespace {

constexpr char const* k_version = ".version 9.0\n.target sm_75\n.address_size 64\n";

std::string library_ptx(std::int64_t count)
{
  std::string text = k_version;
  for (std::int64_t i = 0; i < count; ++i)
    text += ".extern .func (.param .b32 r) library_hook_" + std::to_string(i) +
            " (.param .b32 p, .param .b64 q);\n";
  return text + ".visible .entry kernel (.param .u64 p)\n{\nret;\n}\n";
}

std::string transform_ptx(std::int64_t count, std::string const& prefix)
{
  std::string text = k_version;
  for (std::int64_t i = 0; i < count; ++i)
    text += ".visible .func (.param .b32 r) " + prefix + std::to_string(i) +
            " (.param .b32 p, .param .b64 q)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [p];\n"
            "st.param.b32 [r], %r1;\nret;\n}\n";
  return text;
}

byte_buffer fatbin_bytes(std::string const& ptx)
{
  auto const input = detail::link_input::from_ptx(ptx, target(75), "generated");
  return {input.bytes().begin(), input.bytes().end()};
}

fatbin make_fatbin(std::string const& ptx, std::string const& name)
{
  return fatbin::from_bytes(fatbin_bytes(ptx), name);
}

void judge(benchmark::State& state, std::string const& prefix)
{
  std::vector const inputs{make_fatbin(library_ptx(state.range(0)), "library"),
                           make_fatbin(transform_ptx(state.range(0), prefix), "transform")};
  preflight_request const request{.target = "sm_90", .mode = link_mode::ptx, .kernels = {"kernel"}};
  (void)preflight(inputs, request);  // reads the interfaces, which a fatbin keeps
  for (auto _ : state) benchmark::DoNotOptimize(preflight(inputs, request));
  state.SetComplexityN(state.range(0));
}

void read_bytes(benchmark::State& state)
{
  auto const bytes = fatbin_bytes(transform_ptx(state.range(0), "library_hook_"));
  for (auto _ : state) benchmark::DoNotOptimize(fatbin::from_bytes(bytes, "generated"));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(read_bytes)->RangeMultiplier(10)->Range(1000, 100'000)->Complexity();

void read_interface(benchmark::State& state)
{
  auto const text = transform_ptx(state.range(0), "library_hook_");
  for (auto _ : state) benchmark::DoNotOptimize(read_ptx_interface(text));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(read_interface)->RangeMultiplier(10)->Range(1000, 100'000)->Complexity();

void preflight_of_filled_hooks(benchmark::State& state)
{
  judge(state, "library_hook_");
}
BENCHMARK(preflight_of_filled_hooks)->RangeMultiplier(10)->Range(1000, 100'000)->Complexity();

/// Every hook is missing, and every definition is searched for a similar name.
void preflight_of_misspelt_hooks(benchmark::State& state)
{
  judge(state, "libary_hook_");
}
BENCHMARK(preflight_of_misspelt_hooks)->RangeMultiplier(10)->Range(1000, 100'000)->Complexity();

void load_on_reference_device(benchmark::State& state)
{
  auto const text = transform_ptx(state.range(0), "library_hook_");
  interpreter::module_text const module{text, "generated"};
  for (auto _ : state) {
    interpreter::program const loaded(std::make_shared<interpreter::memory>(), {&module, 1});
    benchmark::DoNotOptimize(loaded.constant_bytes());
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(load_on_reference_device)->RangeMultiplier(10)->Range(1000, 100'000)->Complexity();

void load_variables(benchmark::State& state)
{
  std::string text = k_version;
  for (std::int64_t i = 0; i < state.range(0); ++i)
    text += ".visible .global .b32 v" + std::to_string(i) + " = 1;\n";
  interpreter::module_text const module{text, "generated"};
  for (auto _ : state) {
    interpreter::program const loaded(std::make_shared<interpreter::memory>(), {&module, 1});
    benchmark::DoNotOptimize(loaded.constant_bytes());
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(load_variables)->RangeMultiplier(10)->Range(1000, 100'000)->Complexity();

}  // namespace

BENCHMARK_MAIN();
