// SPDX-License-Identifier: Apache-2.0
// The speed of the reference device: instructions, and two kernels that use shared memory. Every
// launch has one block, so one core runs it: items are the instructions of a thread.
#include <benchmark/benchmark.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "bench/interpreter_kernels.hpp"
#include "interpreter/machine.hpp"

using namespace fatlink::interpreter;

namespace {

/// A kernel k(in, out) in a program of its own, and the memory of both arguments.
class workload {
 public:
  explicit workload(std::string const& text)
      : text_(text),
        program_(memory_, {{module_text{text_, "bench.ptx"}}}),
        in_(memory_->allocate(k_bytes)),
        out_(memory_->allocate(k_bytes))
  {
    for (std::size_t i = 0; i < k_bytes; i += sizeof(float)) {
      auto const value = 1.0F + static_cast<float>(i % 64) / 64;
      std::memcpy(in_.data + i, &value, sizeof value);
    }
  }

  /// Returns the number of instructions of all threads.
  std::uint64_t run()
  {
    std::array const arguments{std::as_bytes(std::span(&in_.base, 1)),
                               std::as_bytes(std::span(&out_.base, 1))};
    return launch(program_, program_.find("k"), {.block = {16, 16, 1}}, arguments);
  }

 private:
  static constexpr std::size_t k_bytes = 1 << 20;
  std::string text_;
  std::shared_ptr<memory> memory_ = std::make_shared<memory>();
  program program_;
  region in_;
  region out_;
};

void measure(benchmark::State& state, std::string const& text)
{
  workload workload(text);
  std::uint64_t instructions = 0;
  for (auto _ : state) instructions += workload.run();
  state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
}

}  // namespace

int main(int argc, char** argv)
{
  using fatlink::bench::k_loops;
  benchmark::RegisterBenchmark("matrix_product", measure, fatlink::bench::matrix_product());
  benchmark::RegisterBenchmark("convolution", measure, fatlink::bench::convolution());
  benchmark::RegisterBenchmark("reduction", measure, fatlink::bench::reduction());
  for (auto const& loop : k_loops)
    benchmark::RegisterBenchmark(std::string(loop.name).c_str(), measure,
                                 fatlink::bench::repeated(loop));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
