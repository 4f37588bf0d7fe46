// SPDX-License-Identifier: Apache-2.0
// Kernels and variables that links keep: real nvJitLink keeps more than it is asked for, and
// nothing where a name is misspelt.
#include "linker/check_opaque_inputs.hpp"

#include "many_kernels.hpp"

using namespace fatlink;
using namespace many_kernels;

namespace {

class KeptSymbols : public fixtures::needs_nvjitlink {};
class NamesInNvjitlink : public fixtures::needs_nvjitlink {};

}  // namespace

TEST_F(KeptSymbols, KeepOneKernelOfManyInASmallCubin)
{
  auto const all = link(link_mode::lto);
  auto const one = link(link_mode::lto, with_kernels({"k7"}));
  EXPECT_EQ(symbols_of(all).kernels.size(), 28U);
  EXPECT_THAT(symbols_of(one).kernels, ElementsAre("k7"));
  EXPECT_LT(one.bytes.size(), 10'000U);
  EXPECT_GT(all.bytes.size(), 100'000U);
  EXPECT_EQ(code_of(one, "k7"), code_of(all, "k7"));
}

TEST_F(KeptSymbols, KeepOneKernelOfManyInPtxModeToo)
{
  auto const all = link(link_mode::ptx);
  auto const one = link(link_mode::ptx, with_kernels({"k7"}));
  EXPECT_THAT(symbols_of(one).kernels, ElementsAre("k7"));
  EXPECT_LT(one.bytes.size() * 4, all.bytes.size());
  EXPECT_EQ(code_of(one, "k7"), code_of(all, "k7"));
}

TEST_F(KeptSymbols, KeepSeveralKernels)
{
  for (auto const mode : {link_mode::ptx, link_mode::lto})
    EXPECT_THAT(symbols_of(link(mode, with_kernels({"k7", "k8"}))).kernels,
                UnorderedElementsAre("k7", "k8"));
}

TEST_F(KeptSymbols, KeepOtherKernelsWhoseNameContainsOneThatIsKept)
{
  auto const kernels = symbols_of(link(link_mode::lto, with_kernels({"k2"}))).kernels;
  EXPECT_THAT(kernels, UnorderedElementsAre("k2", "k20", "k21", "k22", "k23"));
}

TEST_F(KeptSymbols, KeepKernelsInEmittedPtx)
{
  auto const image = link(
      link_mode::lto, with_kernels({"scaled"}, [](link_options& o) { o.emit = image_kind::ptx; }));
  EXPECT_THAT(symbols_of(image).kernels, ElementsAre("scaled"));
}

TEST_F(KeptSymbols, RefuseAMisspeltKernelBeforeTheLink)
{
  for (auto const mode : {link_mode::ptx, link_mode::lto}) {
    linker unused({.isolation = isolation::in_process, .nvjitlink = "/nowhere.so"});
    expect_error<refused_error>(
        [&] {
          (void)unused.link(inputs(), options(mode, with_kernels({"k7", "skaled"})));
        },
        "no input defines kernel skaled");
  }
}

TEST_F(NamesInNvjitlink, SucceedsWithoutKernelsWhereANameIsMisspelt)
{
  auto const product = link_raw({"-kernels-used=skaled", "-lto"});
  EXPECT_THAT(detail::symbols_in(image_kind::cubin, product.bytes).kernels, IsEmpty());
}

TEST_F(NamesInNvjitlink, DropsEveryKernelInPtxModeWhereOnlyAVariableIsNamed)
{
  auto const product = link_raw({"-variables-used=host_scale"});
  EXPECT_THAT(detail::symbols_in(image_kind::cubin, product.bytes).kernels, IsEmpty());
}

TEST_F(NamesInNvjitlink, KeepsEveryVariableInPtxModeWhereKernelsAreNamed)
{
  auto const named = link_raw({"-kernels-used=k7", "-variables-used=host_scale"});
  EXPECT_EQ(named.bytes, link_raw({"-kernels-used=k7"}).bytes);
}

TEST_F(KeptSymbols, KeepDeviceVariablesUnlessOthersAreNamed)
{
  EXPECT_THAT(symbols_of(link(link_mode::lto, with_kernels({"scaled"}))).variables,
              testing::IsSupersetOf({"host_scale", "unread"}));
  auto const kept = link(
      link_mode::lto, with_kernels({"scaled"}, [](link_options& o) { o.variables = {"unread"}; }));
  EXPECT_THAT(symbols_of(kept).variables, Contains("unread"));
  EXPECT_THAT(symbols_of(kept).variables, Not(Contains("host_scale")));  // read, and now constant
}

TEST_F(KeptSymbols, DropConstantsOfOtherKernelsUnlessTheyAreNamed)
{
  EXPECT_THAT(symbols_of(link(link_mode::lto)).variables, Contains("unused_table"));
  EXPECT_THAT(symbols_of(link(link_mode::lto, with_kernels({"k7"}))).variables,
              Not(Contains("unused_table")));
  EXPECT_THAT(symbols_of(link(link_mode::lto,
                              with_kernels(
                                  {"k7"}, [](link_options& o) { o.variables = {"unused_table"}; })))
                  .variables,
              Contains("unused_table"));
}

TEST_F(KeptSymbols, RefuseAMisspeltVariableBeforeTheLink)
{
  linker unused({.isolation = isolation::in_process, .nvjitlink = "/nowhere.so"});
  expect_error<refused_error>(
      [&] {
        (void)unused.link(inputs(), options(link_mode::lto,
                                            [](link_options& o) { o.variables = {"host_skale"}; }));
      },
      "variable host_skale is defined by no input");
}

TEST_F(KeptSymbols, DropVariablesThatOnlyTheHostSets)
{
  auto const image =
      link(link_mode::lto,
           with_kernels({"scaled"}, [](link_options& o) { o.drop_unused_variables = true; }));
  EXPECT_THAT(symbols_of(image).variables, Not(Contains("unread")));
  EXPECT_THAT(symbols_of(image).variables, Not(Contains("host_scale")));
}
