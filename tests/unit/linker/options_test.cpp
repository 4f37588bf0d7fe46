// SPDX-License-Identifier: Apache-2.0
// The options of a link: which are accepted, what they mean for nvJitLink and the key, and which
// are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>

#include "expect_error.hpp"
#include "fatlink/link_options.hpp"
#include "fixtures.hpp"
#include "linker/check_links.hpp"
#include "linker/link_options.hpp"
#include "util/limits.hpp"

using namespace fatlink;
using fixtures::library_and_transform;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using option_change = std::function<void(link_options&)>;

link_options lto()
{
  return {.target = "sm_90", .mode = fatlink::link_mode::lto, .emit = fatlink::image_kind::cubin};
}

link_options changed(link_options options, option_change const& set)
{
  set(options);
  return options;
}

/// Expects that lto() with this change is refused with a message that says `text`.
void expect_invalid(option_change const& set, std::string const& text)
{
  auto const options = changed(lto(), set);
  expect_error<fatlink::usage_error>([&] { check_link_options(options); }, text);
}

/// A change of each field of option_effects(), by its name.
std::map<std::string, option_change> changes()
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
      {"latest_nvvm", [](link_options& o) { o.latest_nvvm = true; }},
      {"threads", [](link_options& o) { o.threads = 2; }},
      {"driver_cache", [](link_options& o) { o.driver_cache = false; }},
      {"ptxas", [](link_options& o) { o.ptxas = {"--def-load-cache=cg"}; }},
      {"nvvm", [](link_options& o) { o.nvvm = {"-jump-table-density=10"}; }},
      {"require_inlined", [](link_options& o) { o.require_inlined = true; }},
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
  auto const hint = [](link_mode mode, image_kind emit, option_change const& set) {
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

// What nvJitLink receives of the options of a link, and what the cache key holds.

namespace {

std::string key_name(link_options const& options)
{
  return link_key(library_and_transform(), options, "13.0 x 1").name();
}

}  // namespace

TEST(NvjitlinkOptions, AreTheTextsThatNvjitlinkReads)
{
  auto options = lto();
  for (auto const& [name, set] : changes())
    if (name != "debug" && name != "fast_compile" && name != "drop_unused_variables") set(options);
  EXPECT_THAT(detail::nvjitlink_options(library_and_transform(), options),
              ElementsAre("-arch=sm_90", "-lto", "-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=0",
                          "-kernels-used=apply_transform", "-variables-used=v", "-nvvm-latest",
                          "-maxrregcount=32", "-O3", "-lineinfo", "--device-stack-protector=true",
                          "-Xptxas=--def-load-cache=cg", "-Xnvvm=-jump-table-density=10",
                          "-split-compile=2", "-no-cache"));
  options = lto();
  options.drop_unused_variables = options.debug = true;
  EXPECT_THAT(detail::nvjitlink_options(library_and_transform(), options),
              testing::IsSupersetOf({"-optimize-unused-variables", "-g"}));
  for (auto const& [level, text] :
       {std::pair{fast_compile::min, "-Ofc=min"}, std::pair{fast_compile::mid, "-Ofc=mid"},
        std::pair{fast_compile::max, "-Ofc=max"}}) {
    options = lto();
    options.fast_compile = level;
    EXPECT_THAT(detail::nvjitlink_options(library_and_transform(), options), Contains(text));
  }
}

TEST(NvjitlinkOptions, StateWhatIsEmitted)
{
  auto const texts = [](link_mode mode, image_kind emit) {
    return detail::nvjitlink_options(library_and_transform(),
                                     {.target = "sm_90", .mode = mode, .emit = emit});
  };
  EXPECT_THAT(texts(link_mode::lto, image_kind::ltoir), testing::IsSupersetOf({"-lto", "-ptx"}));
  EXPECT_THAT(texts(link_mode::lto, image_kind::relocatable),
              testing::IsSupersetOf({"-lto", "-r"}));
  EXPECT_THAT(texts(link_mode::ptx, image_kind::relocatable), ElementsAre("-arch=sm_90", "-r"));
  EXPECT_THAT(texts(link_mode::lto, image_kind::cubin), testing::Not(Contains("-r")));
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
  EXPECT_THAT(detail::nvjitlink_options(library_and_transform(), options),
              ElementsAre("-arch=sm_90", "-kernels-used=a", "-kernels-used=b"));
}

TEST(NvjitlinkOptions, OfLinksThatCheckTypesAreThoseOfALinkWithoutOptions)
{
  auto const plain = detail::check_options(library_and_transform(), lto());
  EXPECT_THAT(plain, ElementsAre("-arch=sm_90", "-lto", "-ftz=0", "-prec-div=1", "-prec-sqrt=1",
                                 "-fma=1", "-no-cache"));
  for (auto const& [name, set] : changes())
    EXPECT_EQ(detail::check_options(library_and_transform(), changed(lto(), set)), plain) << name;
}

TEST(LinkKey, ChangesWithEveryOptionThatChangesTheImage)
{
  std::set<std::string> unchanged;
  std::set<std::string> names{key_name(lto())};
  for (auto const& [name, set] : changes())
    if (!names.insert(key_name(changed(lto(), set))).second) unchanged.insert(name);
  EXPECT_THAT(unchanged, ElementsAre("driver_cache", "require_inlined", "whole_archive"));
}

TEST(LinkKey, HoldsWhetherAnLtoLinkHasSeveralThreadsButNotTheirNumber)
{
  auto const with = [](link_mode mode, unsigned threads) {
    return key_name({.target = "sm_90", .mode = mode, .threads = threads});
  };
  EXPECT_EQ(with(link_mode::lto, 1), key_name(lto()));
  EXPECT_EQ(with(link_mode::lto, 2), with(link_mode::lto, 256));
  EXPECT_NE(with(link_mode::lto, 2), with(link_mode::lto, 1));
  EXPECT_EQ(with(link_mode::ptx, 2), with(link_mode::ptx, 1));
}

TEST(LinkKey, ChangesWithEachLevelAndValue)
{
  std::set<std::string> names{key_name(lto())};
  std::vector<option_change> const values{
      [](link_options& o) { o.optimization = 0; },
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
  for (auto const& set : values) names.insert(key_name(changed(lto(), set)));
  EXPECT_EQ(names.size(), values.size() + 1);
}

TEST(LinkKey, DoesNotDependOnTheOrderOfKernels)
{
  EXPECT_EQ(key_name(changed(lto(),
                             [](link_options& o) {
                               o.kernels = {"a", "b"};
                             })),
            key_name(changed(lto(), [](link_options& o) {
              o.kernels = {"b", "a", "a"};
            })));
}

// Options for ptxas and libNVVM that fatlink does not pass on.

TEST(RawOptions, ThatFatlinkHasItselfAreRefused)
{
  for (auto const* option :
       {"-O1", "-O", "--opt-level=1", "-Ofc=max", "--Ofast-compile=max", "-maxrregcount=32",
        "--maxrregcount=999", "-g", "--device-debug", "-lineinfo", "--generate-line-info",
        "--split-compile=0", "--device-stack-protector=true", "-arch=sm_80", "--gpu-name=sm_80",
        "--entry=k", "-e", "-fmad=false", "--fmad=false"})
    expect_invalid(
        [&](link_options& o) { o.ptxas = {option}; },
        "ptxas option '" + std::string(option) + "': fatlink has an option of its own for it");
  for (auto const* option :
       {"-opt=0", "-Ofast-compile=max", "-Ofc=max", "-g", "-generate-line-info", "-ftz=1",
        "-prec-div=0", "-prec-sqrt=0", "-fma=0", "-split-compile=2", "-arch=compute_80"})
    expect_invalid(
        [&](link_options& o) { o.nvvm = {option}; },
        "nvvm option '" + std::string(option) + "': fatlink has an option of its own for it");
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

TEST(RawOptions, ThatMakeOtherImagesPrintOrReadTextAreRefused)
{
  for (auto const* option : {"-c",
                             "--compile-only",
                             "-ewp",
                             "--extensible-whole-program",
                             "-astoolspatch",
                             "--compile-as-tools-patch",
                             "-preserve-relocs",
                             "--preserve-relocs",
                             "-pic=true",
                             "--position-independent-code=true",
                             "-sanitize=memcheck",
                             "-ias=x",
                             "--input-as-string=x",
                             "-m=32",
                             "--machine=64",
                             "-h",
                             "--help",
                             "-V",
                             "--version",
                             "-version-ls",
                             "--list-version",
                             "--tool-name=x",
                             "--nonsense"})
    expect_invalid([&](link_options& o) { o.ptxas = {option}; },
                   "ptxas option '" + std::string(option) + "': it may change more than the code");
  for (auto const* option : {"-gen-lto", "-host-ref-ek=x", "-inline-info", "-help", "-foo"})
    expect_invalid([&](link_options& o) { o.nvvm = {option}; },
                   "nvvm option '" + std::string(option) + "': it may change more than the code");
}

TEST(RawOptions, AreSpelledInFull)
{
  for (auto const* option : {"--def-load-cach=cg", "--def-load=cg", "--dlcm=cg",
                             "-def-load-cache=cg", "---def-load-cache=cg", "--warn", "-W"})
    expect_invalid([&](link_options& o) { o.ptxas = {option}; },
                   "it may change more than the code and messages");
  expect_invalid([](link_options& o) { o.nvvm = {"--jump-table-density=10"}; },
                 "it may change more than the code and messages");
}

TEST(RawOptions, ThatAreUnknownListTheAllowedOnes)
{
  try {
    check_link_options(changed(lto(), [](link_options& o) { o.nvvm = {"-foo"}; }));
    FAIL();
  } catch (usage_error const& failure) {
    EXPECT_EQ(failure.details().hint, "allowed are -jump-table-density=0..101");
  }
}

TEST(RawOptions, WithoutAnAllowedValueAreRefused)
{
  for (auto const* option :
       {"--def-load-cache", "--def-load-cache=", "--def-load-cache=wb", "-dlcm=cg,-c", "-dscm=ca",
        "--verbose=true", "-w=", "--allow-expensive-optimizations=1", "-maxntid=0", "-maxntid=1025",
        "-maxntid=1,2,3,4", "-maxntid=1,,2", "-maxntid=1,", "-minnctapersm=x", "-minnctapersm=-1",
        "-regUsageLevel=11", "-regUsageLevel=0x1", "-func-maxrregcount=23",
        "-func-maxrregcount=99999999999999999999"})
    expect_invalid([&](link_options& o) { o.ptxas = {option}; },
                   "it has a value that is not allowed");
  for (auto const* option : {"-jump-table-density", "-jump-table-density=102"})
    expect_invalid([&](link_options& o) { o.nvvm = {option}; },
                   "it has a value that is not allowed");
}

TEST(RawOptions, WithAnotherValueStateTheAllowedOnes)
{
  try {
    check_link_options(changed(lto(), [](link_options& o) { o.ptxas = {"-dlcm=zz"}; }));
    FAIL();
  } catch (usage_error const& failure) {
    EXPECT_EQ(failure.details().hint, "write --def-load-cache=ca|cg|cs|lu|cv");
  }
}

TEST(RawOptions, ThatAreAllowedPass)
{
  for (auto const* option :
       {"--def-load-cache=cg", "-dlcm=cv", "-fscm=wt", "-v", "--verbose", "-w", "-Werror",
        "-maxntid=128", "--maxntid=32,8,1", "--register-usage-level=0", "-regUsageLevel=10",
        "-func-maxrregcount=24", "--allow-expensive-optimizations=false", "-ret-end"})
    EXPECT_NO_THROW(check_link_options(changed(lto(), [&](link_options& o) {
      o.ptxas = {option};
    }))) << option;
  EXPECT_NO_THROW(check_link_options(
      changed(lto(), [](link_options& o) { o.nvvm = {"-jump-table-density=101"}; })));
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

// Failed links of which a raw option is the cause. The logs are those of nvJitLink 13.0.

namespace {

error_details named(std::string const& log)
{
  auto const options = changed(lto(), [](link_options& o) {
    o.ptxas = {"-w", "--warn-on-spills", "--def-load-cache=cg"};
    o.nvvm = {"-jump-table-density=10"};
  });
  return detail::name_refused_option({.message = "a.fatbin: linking failed",
                                      .input = "a.fatbin",
                                      .code = error_code::link_failed,
                                      .log = log,
                                      .hint = "see the log"},
                                     options);
}

}  // namespace

TEST(RefusedOption, OfPtxasIsNamedInsteadOfTheInputs)
{
  auto const failure = named("ptxas fatal   : Unknown option '-warn-on-spills'\n");
  EXPECT_EQ(failure.message,
            "ptxas option '--warn-on-spills': this nvJitLink does not accept it: ptxas fatal   : "
            "Unknown option '-warn-on-spills'");
  EXPECT_EQ(failure.input, "--warn-on-spills");
  EXPECT_EQ(failure.hint,
            "remove it from <link_options::ptxas>; <nvjitlink::path is> the one that was opened");
}

TEST(RefusedOption, WithAValueIsNamed)
{
  auto const failure = named("ptxas fatal   : Invalid value 'cg' for option 'def-load-cache'\n");
  EXPECT_EQ(failure.input, "--def-load-cache=cg");
}

TEST(RefusedOption, OfLibnvvmIsNamed)
{
  auto const failure = named(
      "ERROR in nvvmCompileProgram: NVVM_ERROR_INVALID_OPTION\n"
      "libnvvm : error: -jump-table-density is an unsupported option\n");
  EXPECT_EQ(failure.input, "-jump-table-density=10");
  EXPECT_EQ(failure.code, error_code::link_failed);
}

TEST(RefusedOption, IsNotBlamedForOtherFailures)
{
  for (auto const* log :
       {"ptxas error   : unresolved extern w", "ptxas fatal : Unknown option 'wx'",
        "ptxas warning : option 'warn-on-spills' ignored", "ptxas fatal : Unknown option 'x-w'",
        ""}) {
    auto const failure = named(log);
    EXPECT_EQ(failure.message, "a.fatbin: linking failed") << log;
    EXPECT_EQ(failure.hint, "see the log");
  }
}
