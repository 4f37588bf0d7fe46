// SPDX-License-Identifier: Apache-2.0
// The options of a link: which are refused, what nvJitLink receives, what the cache key holds.
#include "fatlink/link_options.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <set>

#include "expect_error.hpp"
#include "fatlink/linker.hpp"
#include "fixtures.hpp"
#include "linker/nvjitlink_options.hpp"
#include "linker/option_effects.hpp"
#include "linker/reachable_functions.hpp"
#include "util/limits.hpp"

using namespace fatlink;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using change = std::function<void(link_options&)>;

std::vector<fatbin> pair()
{
  return {fixtures::fatbin("library.fatbin"), fixtures::fatbin("transform.fatbin")};
}

link_options lto()
{
  return {.target = "sm_90", .mode = link_mode::lto, .emit = image_kind::cubin};
}

link_options changed(link_options options, change const& set)
{
  set(options);
  return options;
}

/// A change of each field of option_effects(), by its name.
std::map<std::string, change> changes()
{
  return {
      {"allow_calls", [](link_options& o) { o.allow_calls = true; }},
      {"whole_archive", [](link_options& o) { o.whole_archive = true; }},
      {"kernels", [](link_options& o) { o.kernels = {"apply_transform"}; }},
      {"variables", [](link_options& o) { o.variables = {"v"}; }},
      {"drop_unused_variables", [](link_options& o) { o.drop_unused_variables = true; }},
      {"max_registers", [](link_options& o) { o.max_registers = 32; }},
      {"optimization", [](link_options& o) { o.optimization = 3; }},
      {"fast_compile", [](link_options& o) { o.fast_compile = fast_compile::mid; }},
      {"line_info", [](link_options& o) { o.line_info = true; }},
      {"debug", [](link_options& o) { o.debug = true; }},
      {"ftz", [](link_options& o) { o.ftz = true; }},
      {"prec_div", [](link_options& o) { o.prec_div = false; }},
      {"prec_sqrt", [](link_options& o) { o.prec_sqrt = false; }},
      {"fma", [](link_options& o) { o.fma = false; }},
      {"stack_protector", [](link_options& o) { o.stack_protector = true; }},
      {"threads", [](link_options& o) { o.threads = 2; }},
      {"driver_cache", [](link_options& o) { o.driver_cache = false; }},
      {"ptxas", [](link_options& o) { o.ptxas = {"--def-load-cache=cg"}; }},
      {"nvvm", [](link_options& o) { o.nvvm = {"-jump-table-density=10"}; }},
  };
}

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
      EXPECT_EQ(failure.details().input, name);
      names.insert(name);
    }
  }
  return names;
}

void expect_invalid(change const& set, std::string const& text)
{
  auto const options = changed(lto(), set);
  expect_error<usage_error>([&] { check_link_options(options); }, text);
}

std::string name_of(link_options const& options)
{
  return link_key(pair(), options, "13.0 x 1").name();
}

}  // namespace

TEST(LinkOptions, HaveDefaultsThatEveryLinkAccepts)
{
  check_link_options({});
  for (auto const emit : {image_kind::cubin, image_kind::ptx, image_kind::ptx_set})
    check_link_options({.target = "sm_90", .mode = link_mode::ptx, .emit = emit});
}

TEST(LinkOptions, EachHaveARowInTheTableOfEffects)
{
  std::set<std::string> rows;
  for (auto const& row : detail::option_effects()) {
    rows.insert(std::string(row.name));
    EXPECT_EQ(row.field, "link_options::" + std::string(row.name));
    EXPECT_FALSE(row.is_set({})) << row.name;
  }
  std::set<std::string> fields;
  for (auto const& [name, set] : changes()) fields.insert(name);
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
              ElementsAre("drop_unused_variables", "fma", "ftz", "nvvm", "prec_div", "prec_sqrt",
                          "variables"));
}

TEST(LinkOptions, OfNvjitlinkAreRefusedForPtxThatItDoesNotLink)
{
  std::set<std::string> expected;
  for (auto const& [name, set] : changes())
    if (name != "kernels" && name != "whole_archive") expected.insert(name);
  EXPECT_EQ(refused(link_mode::ptx, image_kind::ptx_set), expected);
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
            "ftz: this option has no effect in ptx mode; do not set link_options::ftz, or link in "
            "lto mode: link_mode::lto");
  EXPECT_EQ(
      hint(link_mode::lto, image_kind::ptx, registers),
      "max_registers: this option has no effect on emitted PTX, which ptxas has not compiled; "
      "do not set link_options::max_registers, or emit a cubin: image_kind::cubin");
  EXPECT_EQ(
      hint(link_mode::ptx, image_kind::ptx_set, registers),
      "max_registers: this option has no effect in ptx mode on the reference device, for which "
      "nvJitLink does not run; do not set link_options::max_registers, or link for a GPU");
  EXPECT_THAT(hint(link_mode::ptx, image_kind::ptx_set, ftz), HasSubstr("link_mode::lto"));
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
      "optimization and fast_compile exclude each other");
  expect_invalid(
      [](link_options& o) {
        o.optimization = 3;
        o.debug = true;
      },
      "optimization 3 and debug exclude each other");
  expect_invalid(
      [](link_options& o) {
        o.fast_compile = fast_compile::max;
        o.debug = true;
      },
      "fast_compile and debug exclude each other");
  expect_invalid(
      [](link_options& o) {
        o.line_info = true;
        o.debug = true;
      },
      "line_info: this option has no effect together with debug");
  expect_invalid(
      [](link_options& o) {
        o.variables = {"v"};
        o.drop_unused_variables = true;
      },
      "drop_unused_variables: this option has no effect together with variables");
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

TEST(RawOptions, ThatFatlinkHasItselfAreRefused)
{
  for (auto const* option :
       {"-O1", "-O", "--opt-level=1", "-Ofc=max", "--Ofast-compile=max", "-maxrregcount=32",
        "--maxrregcount=999", "-g", "--device-debug", "-lineinfo", "--generate-line-info",
        "--split-compile=0", "--device-stack-protector=true", "-arch=sm_80", "--gpu-name=sm_80",
        "--entry=k", "-e"})
    expect_invalid([&](link_options& o) { o.ptxas = {option}; },
                   "ptxas option '" + std::string(option) + "': fatlink has this option itself");
  for (auto const* option :
       {"-opt=0", "-Ofast-compile=max", "-Ofc=max", "-g", "-generate-line-info", "-ftz=1",
        "-prec-div=0", "-prec-sqrt=0", "-fma=0", "-split-compile=2", "-arch=compute_80"})
    expect_invalid([&](link_options& o) { o.nvvm = {option}; },
                   "nvvm option '" + std::string(option) + "': fatlink has this option itself");
}

TEST(RawOptions, ThatFatlinkHasItselfNameItsOwn)
{
  try {
    check_link_options(changed(lto(), [](link_options& o) { o.ptxas = {"--maxrregcount=32"}; }));
    FAIL();
  } catch (usage_error const& failure) {
    EXPECT_EQ(failure.details().hint, "use link_options::max_registers");
  }
}

TEST(RawOptions, ThatNameFilesAreRefused)
{
  for (auto const* option : {"-o", "--output-file=x", "-optf", "--options-file=/etc/passwd"})
    expect_invalid([&](link_options& o) { o.ptxas = {option}; }, "it names a file");
}

TEST(RawOptions, AreOneWordEach)
{
  for (auto const* option : {"", "-", "32", "v"})
    expect_invalid([&](link_options& o) { o.ptxas = {option}; }, "it does not begin with a dash");
  for (auto const* option : {"-v\n", "-v -g", "--x=\t1", "--x=\x7f", "--x=\x01"})
    expect_invalid([&](link_options& o) { o.nvvm = {option}; },
                   "it holds a space or a control character");
}

TEST(RawOptions, AreLimitedInSizeAndNumber)
{
  expect_invalid([](link_options& o) { o.ptxas = {"--x=" + std::string(5000, 'y')}; },
                 "it has 5004 bytes, more than 4096");
  expect_invalid([](link_options& o) { o.nvvm.assign(257, "-x"); },
                 "257 nvvm options: at most 256 are passed on");
}

TEST(NvjitlinkOptions, AreTheTextsThatNvjitlinkReads)
{
  auto options = lto();
  for (auto const& [name, set] : changes())
    if (name != "debug" && name != "fast_compile" && name != "drop_unused_variables") set(options);
  EXPECT_THAT(
      detail::nvjitlink_options(pair(), options),
      ElementsAre("-arch=sm_90", "-lto", "-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=0",
                  "-kernels-used=apply_transform", "-variables-used=v", "-maxrregcount=32", "-O3",
                  "-lineinfo", "--device-stack-protector=true", "-Xptxas=--def-load-cache=cg",
                  "-Xnvvm=-jump-table-density=10", "-split-compile=2", "-no-cache"));
  options = lto();
  options.drop_unused_variables = options.debug = true;
  EXPECT_THAT(detail::nvjitlink_options(pair(), options),
              testing::IsSupersetOf({"-optimize-unused-variables", "-g"}));
  for (auto const& [level, text] :
       {std::pair{fast_compile::min, "-Ofc=min"}, std::pair{fast_compile::mid, "-Ofc=mid"},
        std::pair{fast_compile::max, "-Ofc=max"}}) {
    options = lto();
    options.fast_compile = level;
    EXPECT_THAT(detail::nvjitlink_options(pair(), options), Contains(text));
  }
}

TEST(NvjitlinkOptions, HaveTheFloatFlagsOfTheInputsUnlessTheyAreOverridden)
{
  std::vector<fatbin> const fast{fixtures::fatbin("fast.fatbin")};
  auto options = lto();
  auto const recorded = detail::nvjitlink_options(fast, options);
  EXPECT_THAT(recorded, Contains("-ftz=1"));
  options.ftz = false;
  EXPECT_THAT(detail::nvjitlink_options(fast, options), Contains("-ftz=0"));
}

TEST(NvjitlinkOptions, OfPtxModeHaveKernelsOneByOne)
{
  auto options = lto();
  options.mode = link_mode::ptx;
  options.kernels = {"b", "a", "b"};
  EXPECT_THAT(detail::nvjitlink_options(pair(), options),
              ElementsAre("-arch=sm_90", "-kernels-used=a", "-kernels-used=b"));
}

TEST(NvjitlinkOptions, OfLinksThatCheckTypesAreThoseOfALinkWithoutOptions)
{
  auto const plain = detail::check_options(pair(), lto());
  EXPECT_THAT(plain, ElementsAre("-arch=sm_90", "-lto", "-ftz=0", "-prec-div=1", "-prec-sqrt=1",
                                 "-fma=1", "-no-cache"));
  for (auto const& [name, set] : changes())
    EXPECT_EQ(detail::check_options(pair(), changed(lto(), set)), plain) << name;
}

TEST(LinkKey, ChangesWithEveryOptionButTheDriversCache)
{
  std::set<std::string> unchanged;
  std::set<std::string> names{name_of(lto())};
  for (auto const& [name, set] : changes())
    if (!names.insert(name_of(changed(lto(), set))).second) unchanged.insert(name);
  EXPECT_THAT(unchanged, ElementsAre("driver_cache"));
  EXPECT_EQ(name_of(changed(lto(), [](link_options& o) { o.require_inlined = true; })),
            name_of(lto()));
}

TEST(LinkKey, HoldsWhetherAnLtoLinkHasSeveralThreadsButNotTheirNumber)
{
  auto const with = [](link_mode mode, unsigned threads) {
    return name_of({.target = "sm_90", .mode = mode, .threads = threads});
  };
  EXPECT_EQ(with(link_mode::lto, 1), name_of(lto()));
  EXPECT_EQ(with(link_mode::lto, 2), with(link_mode::lto, 256));
  EXPECT_NE(with(link_mode::lto, 2), with(link_mode::lto, 1));
  EXPECT_EQ(with(link_mode::ptx, 2), with(link_mode::ptx, 1));
}

TEST(LinkKey, ChangesWithEachLevelAndValue)
{
  std::set<std::string> names{name_of(lto())};
  std::vector<change> const values{[](link_options& o) { o.optimization = 0; },
                                   [](link_options& o) { o.optimization = 3; },
                                   [](link_options& o) { o.fast_compile = fast_compile::min; },
                                   [](link_options& o) { o.fast_compile = fast_compile::max; },
                                   [](link_options& o) { o.max_registers = 24; },
                                   [](link_options& o) { o.max_registers = 255; },
                                   [](link_options& o) { o.kernels = {"a"}; },
                                   [](link_options& o) {
                                     o.kernels = {"a", "b"};
                                   },
                                   [](link_options& o) { o.variables = {"a"}; },
                                   [](link_options& o) { o.ptxas = {"-a"}; },
                                   [](link_options& o) { o.nvvm = {"-a"}; }};
  for (auto const& set : values) names.insert(name_of(changed(lto(), set)));
  EXPECT_EQ(names.size(), values.size() + 1);
}

TEST(LinkKey, DoesNotDependOnTheOrderOfKernels)
{
  EXPECT_EQ(name_of(changed(lto(),
                            [](link_options& o) {
                              o.kernels = {"a", "b"};
                            })),
            name_of(changed(lto(), [](link_options& o) {
              o.kernels = {"b", "a", "a"};
            })));
}
