// SPDX-License-Identifier: Apache-2.0
// Each form of an instruction computes the same for a whole warp, for which handlers are
// vectorised, and for single lanes, at each level of x86-64 that handlers are compiled for; and
// what a reference device computes that is compiled without vectorisation.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "executed_forms.hpp"
#include "interpreter/execution/cpu_level.hpp"
#include "places.hpp"

namespace fatlink::interpreter {
namespace {

using fixtures::k_form_threads;

class InstructionForms : public testing::Test {
 protected:
  ~InstructionForms() override { use_level_3(true); }

  [[nodiscard]] std::vector<std::uint64_t> run(std::uint32_t block) const
  {
    return fixtures::execute_forms(forms_, block);
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

/// What the program prints.
std::vector<std::uint64_t> numbers_of(std::string const& program)
{
  std::unique_ptr<FILE, int (*)(FILE*)> const pipe(popen(program.c_str(), "r"), &pclose);
  std::vector<std::uint64_t> numbers;
  std::uint64_t number = 0;
  while (pipe != nullptr && std::fread(&number, sizeof(number), 1, pipe.get()) == 1)
    numbers.push_back(number);
  return numbers;
}

TEST_F(InstructionForms, ComputeWhatCodeWithoutVectorsDoes)
{
  auto const program = places::tests() / "scalar_forms";
  if (!std::filesystem::exists(program))
    GTEST_SKIP() << "compiles the reference device again; part 5 of the long tests runs it";
  auto const expected = numbers_of(program);
  ASSERT_EQ(expected.size(), forms_.size() * k_form_threads);
  expect_equal(run(k_form_threads), expected, "a whole warp");
  use_level_3(false);
  expect_equal(run(k_form_threads), expected, "a whole warp without x86-64-v3");
}

}  // namespace
}  // namespace fatlink::interpreter
