// SPDX-License-Identifier: Apache-2.0
#include "fatlink/reference.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "expect_error.hpp"
#include "fixtures.hpp"

using namespace fatlink;

namespace {

double evaluate_reference(std::string const& expression, float x)
{
  reference const r{.name = "r",
                    .summary = "",
                    .hook = "h",
                    .expression = expression,
                    .tolerance_ulp = 0,
                    .file = ""};
  std::array<double, 1> out{};
  r.evaluator()(std::array{x}, out);
  return out[0];
}

}  // namespace

TEST(Reference, EvaluatesInDouble)
{
  EXPECT_EQ(evaluate_reference("max(0, x*x + 3*x - 1)", 2.0F), 9.0);
  EXPECT_EQ(evaluate_reference("max(0, x*x + 3*x - 1)", -1.0F), 0.0);
  EXPECT_EQ(evaluate_reference("fma(x, 3, 1)", 2.0F), 7.0);
  EXPECT_EQ(evaluate_reference("x/3", 1.0F), 1.0 / 3.0);
  EXPECT_EQ(evaluate_reference("erfc(x) + erf(x)", 0.3F),
            std::erfc(double{0.3F}) + std::erf(double{0.3F}));
}

TEST(Reference, LetsNanThroughMaxAndMin)
{
  for (auto const* text : {"max(0, x)", "max(x, 0)", "min(0, x)", "min(x, 0)"})
    EXPECT_TRUE(std::isnan(evaluate_reference(text, std::nanf("")))) << text;
}

TEST(Reference, IsReadFromBesideTheFatbin)
{
  fixtures::folder const folder;
  EXPECT_FALSE(reference::beside(folder.path() / "t.fatbin"));
  folder.write("t.json",
               R"({"name":"t","summary":"s","hook":"h","reference":"2*x","tolerance_ulp":1.5})");
  auto const found = reference::beside(folder.path() / "t.fatbin");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->expression, "2*x");
  EXPECT_EQ(found->tolerance_ulp, 1.5);
}

TEST(Reference, RefusesExpressionsInAnythingButX)
{
  fixtures::folder const folder;
  auto const path = folder.write(
      "t.json", R"({"name":"t","summary":"s","hook":"h","reference":"2*y","tolerance_ulp":1})");
  expect_error<file_error>([&] { reference::read(path); }, "\"reference\"");
}

TEST(Reference, RefusesAToleranceAbove1048576Ulp)
{
  fixtures::folder const folder;
  auto const write = [&](char const* tolerance) {
    return folder.write("t.json",
                        R"({"name":"t","summary":"s","hook":"h","reference":"x","tolerance_ulp":)" +
                            std::string(tolerance) + "}");
  };
  EXPECT_EQ(reference::read(write("1048576")).tolerance_ulp, 1048576);
  expect_error<file_error>([&] { reference::read(write("1048577")); }, "above 2^20");
}
