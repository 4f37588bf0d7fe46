// SPDX-License-Identifier: Apache-2.0
// The options of a link: which are accepted, which are refused, and where each has an effect.
#include "fatlink/link_options.hpp"

#include <gmock/gmock.h>

#include <set>

#include "link_option_changes.hpp"
#include "linker/link_options.hpp"
#include "util/limits.hpp"

using namespace fatlink;
using fixtures::change;
using fixtures::changed;
using fixtures::changes;
using fixtures::expect_invalid;
using fixtures::lto;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Names of the fields whose change the link of this mode and kind refuses.
std::set<std::string> refused(link_mode mode, image_kind emit)
{
  std::set<std::string> names;
  for (auto const& [name, set] : changes()) {
    auto const options = changed({.target = "sm_90", .mode = mode, .emit = emit}, set);
    try {
      check_link_options(options);
    } catch (usage_error const& failure) {
      EXPECT_EQ(failure.details().code, error_code::option_has_no_effect);
      EXPECT_EQ(failure.details().input, "link_options::" + name);
      names.insert(name);
    }
  }
  return names;
}

}  // namespace

TEST(LinkOptions, HaveDefaultsThatEveryLinkAccepts)
{
  check_link_options({});
  for (auto const emit :
       {image_kind::cubin, image_kind::ptx, image_kind::ptx_set, image_kind::relocatable})
    check_link_options({.target = "sm_90", .mode = link_mode::ptx, .emit = emit});
}

TEST(LinkOptions, EachHaveARowInTheTableOfEffects)
{
  std::set<std::string> rows;
  for (auto const& row : detail::option_effects()) {
    rows.insert(std::string(row.field));
    EXPECT_FALSE(row.is_set({})) << row.field;
  }
  std::set<std::string> fields;
  for (auto const& [name, set] : changes()) fields.insert("link_options::" + name);
  EXPECT_EQ(rows, fields);
}

TEST(LinkOptions, AllHaveAnEffectOnTheCubinOfAnLtoLink)
{
  EXPECT_THAT(refused(link_mode::lto, image_kind::cubin), testing::IsEmpty());
}

TEST(LinkOptions, OfPtxasAreRefusedWhereOnlyPtxIsEmitted)
{
  EXPECT_THAT(refused(link_mode::lto, image_kind::ptx),
              ElementsAre("allow_calls", "debug", "line_info", "max_registers", "ptxas",
                          "stack_protector"));
}

TEST(LinkOptions, ThatCompileAreRefusedInSassMode)
{
  std::set<std::string> expected;
  for (auto const& [name, set] : changes()) expected.insert(name);
  for (auto const* name : {"kernels", "whole_archive", "driver_cache"}) expected.erase(name);
  EXPECT_EQ(refused(link_mode::sass, image_kind::cubin), expected);
}

TEST(LinkOptions, OfTheLtoCompilerAreRefusedInPtxMode)
{
  EXPECT_THAT(refused(link_mode::ptx, image_kind::cubin),
              ElementsAre("drop_unused_variables", "fma", "ftz", "latest_nvvm", "nvvm", "prec_div",
                          "prec_sqrt", "require_inlined", "variables"));
}

TEST(LinkOptions, OfNvjitlinkAreRefusedForPtxThatItDoesNotLink)
{
  std::set<std::string> expected;
  for (auto const& [name, set] : changes())
    if (name != "kernels" && name != "whole_archive") expected.insert(name);
  EXPECT_EQ(refused(link_mode::ptx, image_kind::ptx_set), expected);
}

TEST(LinkOptions, ThatCompileAreRefusedWhereLtoirIsEmitted)
{
  std::set<std::string> expected;
  for (auto const& [name, set] : changes()) expected.insert(name);
  for (auto const* name : {"whole_archive", "ftz", "prec_div", "prec_sqrt", "fma", "driver_cache"})
    expected.erase(name);
  EXPECT_EQ(refused(link_mode::lto, image_kind::ltoir), expected);
  EXPECT_THAT(refused(link_mode::lto, image_kind::relocatable), testing::IsEmpty());
}

TEST(LinkOptions, WithoutEffectNameTheRemedy)
{
  auto const hint = [](link_mode mode, image_kind emit, change const& set) {
    try {
      check_link_options(changed({.target = "sm_90", .mode = mode, .emit = emit}, set));
    } catch (usage_error const& failure) {
      return std::string(failure.what()) + "; " + failure.details().hint;
    }
    return std::string();
  };
  auto const ftz = changes().at("ftz");
  auto const registers = changes().at("max_registers");
  EXPECT_EQ(hint(link_mode::ptx, image_kind::cubin, ftz),
            "link_options::ftz: this option has no effect in ptx mode; do not set "
            "link_options::ftz, or link in "
            "lto mode: link_mode::lto");
  EXPECT_EQ(hint(link_mode::lto, image_kind::ptx, registers),
            "link_options::max_registers: this option has no effect on emitted PTX, which ptxas "
            "has not compiled; "
            "do not set link_options::max_registers, or emit a cubin for a GPU: image_kind::cubin");
  EXPECT_EQ(
      hint(link_mode::ptx, image_kind::ptx_set, registers),
      "link_options::max_registers: this option has no effect in ptx mode on the reference device, "
      "for which nvJitLink is not used; do not set link_options::max_registers, or link for a GPU");
  EXPECT_THAT(hint(link_mode::ptx, image_kind::ptx_set, ftz), HasSubstr("link_mode::lto"));
  EXPECT_EQ(hint(link_mode::lto, image_kind::ltoir, registers),
            "link_options::max_registers: this option has no effect on emitted LTO-IR, which "
            "nothing has compiled; do not set link_options::max_registers, but for the link that "
            "has the emitted LTO-IR as an input");
}

TEST(LinkOptions, OutOfRangeAreRefusedWithTheRange)
{
  for (auto const count : {0U, 16U, 23U, 256U, 1000U, ~0U})
    expect_invalid([&](link_options& o) { o.max_registers = count; },
                   "max_registers: " + std::to_string(count) + " is not a number from 24 to 255");
  for (auto const count : {0U, 257U})
    expect_invalid([&](link_options& o) { o.threads = count; },
                   "threads: " + std::to_string(count) + " is not a number from 1 to 256");
  for (auto const level : {1U, 2U, 4U})
    expect_invalid([&](link_options& o) { o.optimization = level; },
                   "optimization: " + std::to_string(level) + " is neither 0 nor 3");
  expect_invalid([](link_options& o) { o.fast_compile = static_cast<fast_compile>(7); },
                 "fast_compile has no value 7");
}

TEST(LinkOptions, InRangeAreAccepted)
{
  for (auto const count : {24U, 255U})
    check_link_options(changed(lto(), [&](link_options& o) { o.max_registers = count; }));
  for (auto const count : {1U, 256U})
    check_link_options(changed(lto(), [&](link_options& o) { o.threads = count; }));
}

TEST(LinkOptions, ThatNvjitlinkWouldRefuseOrIgnoreTogetherAreRefused)
{
  expect_invalid(
      [](link_options& o) {
        o.optimization = 0;
        o.fast_compile = fast_compile::min;
      },
      "link_options::optimization and link_options::fast_compile exclude each other");
  expect_invalid(
      [](link_options& o) {
        o.optimization = 3;
        o.debug = true;
      },
      "link_options::optimization 3 and link_options::debug exclude each other");
  expect_invalid(
      [](link_options& o) {
        o.fast_compile = fast_compile::max;
        o.debug = true;
      },
      "link_options::fast_compile and link_options::debug exclude each other");
  expect_invalid(
      [](link_options& o) {
        o.line_info = true;
        o.debug = true;
      },
      "link_options::line_info: this option has no effect together with link_options::debug");
  expect_invalid(
      [](link_options& o) {
        o.variables = {"v"};
        o.drop_unused_variables = true;
      },
      "link_options::drop_unused_variables: this option has no effect together with "
      "link_options::variables");
}

TEST(LinkOptions, WithoutOptimizationMayBeDebugged)
{
  check_link_options(changed(lto(), [](link_options& o) {
    o.optimization = 0;
    o.debug = true;
  }));
}

TEST(LinkOptions, TakeOnlyNamesOfSymbols)
{
  for (auto const* name : {"", "a,b", "k 7", "k<int>(float)", "7k", "k\n", "-k"}) {
    expect_invalid(
        [&](link_options& o) {
          o.kernels = {"k", name};
        },
        "is not the name of a symbol");
    expect_invalid([&](link_options& o) { o.variables = {name}; }, "is not the name of a symbol");
  }
  check_link_options(changed(lto(), [](link_options& o) {
    o.kernels = {"_Z1kIfEvPT_", "$k", "%k", "k_7"};
  }));
}

TEST(LinkOptions, TakeNoMoreNamesThanTheLimit)
{
  for (auto const* field : {"kernels", "variables"})
    expect_invalid(
        [&](link_options& o) {
          auto& names = std::string(field) == "kernels" ? o.kernels : o.variables;
          names.assign(limits::k_kept_names + 1, "k");
        },
        std::string(field) + ": 4097 names, more than 4096");
}
