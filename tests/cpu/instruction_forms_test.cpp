// SPDX-License-Identifier: Apache-2.0
// Each form of an instruction computes the same for a whole warp, for which handlers are
// vectorised, and for single lanes, at each level of x86-64 that handlers are compiled for.
#include <gtest/gtest.h>

#include <cstring>

#include "instruction_forms.hpp"
#include "interpreter/execution/cpu_level.hpp"
#include "interpreter/machine.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::uint32_t k_form_threads = 256;

class InstructionForms : public testing::Test {
 protected:
  ~InstructionForms() override { use_level_3(true); }

  /// Executes all forms in blocks of `block` threads.
  [[nodiscard]] std::vector<std::uint64_t> run(std::uint32_t block) const
  {
    auto const device_memory = std::make_shared<memory>();
    module_text const module{text_, "forms.ptx"};
    program program(device_memory, {&module, 1});
    auto const operands = fixtures::form_operands(k_form_threads);
    std::vector<std::uint64_t> result(forms_.size() * k_form_threads);
    auto const in = device_memory->allocate(operands.size() * sizeof(std::uint64_t));
    auto const out = device_memory->allocate(result.size() * sizeof(std::uint64_t));
    std::memcpy(in.data, operands.data(), in.size);
    std::array const arguments{std::as_bytes(std::span(&in.base, 1)),
                               std::as_bytes(std::span(&out.base, 1))};
    launch(program, program.find("k"),
           {.grid = {k_form_threads / block, 1, 1}, .block = {block, 1, 1}}, arguments);
    std::memcpy(result.data(), out.data, out.size);
    return result;
  }

  void expect_equal(std::vector<std::uint64_t> const& results,
                    std::vector<std::uint64_t> const& expected, std::string const& what) const
  {
    for (std::size_t form = 0; form < forms_.size(); ++form)
      for (std::size_t thread = 0; thread < k_form_threads; ++thread) {
        auto const i = form * k_form_threads + thread;
        if (results[i] == expected[i]) continue;
        ADD_FAILURE() << forms_[form].text << " in " << what << ", thread " << thread << ": "
                      << std::hex << results[i] << " instead of " << expected[i];
        break;
      }
  }

  std::vector<fixtures::instruction_form> forms_ = fixtures::instruction_forms::all();
  std::string text_ = fixtures::kernel_of_forms(forms_, k_form_threads);
};

TEST_F(InstructionForms, AreMany)
{
  EXPECT_GT(forms_.size(), 1000U);
}

TEST_F(InstructionForms, ComputeTheSameForWholeWarpsAndForSingleLanes)
{
  expect_equal(run(k_form_threads), run(1), "a whole warp");
  use_level_3(false);
  expect_equal(run(k_form_threads), run(1), "a whole warp without x86-64-v3");
}

TEST_F(InstructionForms, ComputeTheSameAtEachLevel)
{
  if (!has_level_3) GTEST_SKIP() << "the host has one level";
  auto const results = run(k_form_threads);
  use_level_3(false);
  expect_equal(results, run(k_form_threads), "x86-64-v3");
}

}  // namespace
}  // namespace fatlink::interpreter
