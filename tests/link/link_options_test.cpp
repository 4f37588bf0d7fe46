// SPDX-License-Identifier: Apache-2.0
// What each option of a link does in real nvJitLink: fatlink/link_options.hpp states these effects
// and traps.
#include "fatlink/link_options.hpp"

#include <gmock/gmock.h>

#include "expect_error.hpp"
#include "linker/link_options.hpp"
#include "many_kernels.hpp"
#include "test_scale.hpp"

using namespace fatlink;
using namespace many_kernels;

namespace {

class LinkOptions : public fixtures::needs_nvjitlink {};
class RawNvjitlink : public fixtures::needs_nvjitlink {};

/// nvJitLink 13.5 compiles LTO-IR for debuggers without optimizing it.
bool debug_optimizes()
{
  return nvjitlink::open()->minor() < 5;
}

}  // namespace

TEST_F(LinkOptions, LimitRegistersInBothModes)
{
  for (auto const mode : {link_mode::ptx, link_mode::lto})
    EXPECT_TRUE(changes_code(mode, "wide", [](link_options& o) { o.max_registers = 32; }));
}

TEST_F(RawNvjitlink, TakesFewerRegistersThanItsLeastForTheLeast)
{
  auto const code = [](char const* text) {
    linked_image image;
    image.bytes = link_raw({"-kernels-used=wide", text, "-lto"}).bytes;
    return code_of(image, "wide");
  };
  EXPECT_EQ(code("-maxrregcount=16"), code("-maxrregcount=24"));
}

TEST_F(LinkOptions, LeaveHooksAsCallsWithoutOptimization)
{
  for (auto const& set : {change([](link_options& o) { o.optimization = 0; }),
                          change([](link_options& o) { o.fast_compile = fast_compile::max; })}) {
    auto const image = link(link_mode::lto, with_kernels({"scaled"}, set));
    EXPECT_FALSE(image.inlined());
    EXPECT_THAT(image.warnings, Contains(HasSubstr("user_transform was not inlined")));
    expect_error<link_error>(
        [&] {
          (void)link(link_mode::lto, with_kernels({"scaled"}, [&](link_options& o) {
                       set(o);
                       o.require_inlined = true;
                     }));
        },
        "user_transform was not inlined");
  }
}

TEST_F(LinkOptions, InlineHooksWithEveryOtherLevel)
{
  for (auto const& set : {change([](link_options& o) { o.optimization = 3; }),
                          change([](link_options& o) { o.fast_compile = fast_compile::min; }),
                          change([](link_options& o) { o.fast_compile = fast_compile::mid; })})
    EXPECT_TRUE(link(link_mode::lto, with_kernels({"scaled"}, set)).inlined());
  auto const debug = with_kernels({"scaled"}, [](link_options& o) { o.debug = true; });
  EXPECT_EQ(link(link_mode::lto, debug).inlined(), debug_optimizes());
}

TEST_F(LinkOptions, HaveOptimization3AsTheDefaultsCode)
{
  for (auto const mode : {link_mode::ptx, link_mode::lto})
    EXPECT_FALSE(changes_code(mode, "divided", [](link_options& o) { o.optimization = 3; }));
}

TEST_F(LinkOptions, ChangeTheCodeWithEachFastCompile)
{
  for (auto const level : {fast_compile::min, fast_compile::mid, fast_compile::max})
    for (auto const mode : {link_mode::ptx, link_mode::lto})
      EXPECT_TRUE(changes_code(mode, "k7", [&](link_options& o) { o.fast_compile = level; }))
          << to_string(level) << " " << to_string(mode);
}

TEST_F(LinkOptions, AddLinesWithoutOtherCode)
{
  for (auto const mode : {link_mode::ptx, link_mode::lto}) {
    auto const plain = link(mode, with_kernels({"scaled"}));
    auto const lines =
        link(mode, with_kernels({"scaled"}, [](link_options& o) { o.line_info = true; }));
    EXPECT_EQ(code_of(lines, "scaled"), code_of(plain, "scaled"));
    EXPECT_TRUE(has_section(lines, ".debug_line"));
    EXPECT_FALSE(has_section(plain, ".debug_line"));
  }
}

TEST_F(LinkOptions, MakeCodeForDebuggersAndSayThatInputsLackDebugInformation)
{
  for (auto const mode : {link_mode::ptx, link_mode::lto}) {
    auto const debug = [](link_options& o) {
      o.debug = true;
      o.driver_cache = false;  // links from the driver's cache have no warnings
    };
    auto const image = link(mode, with_kernels({"divided"}, debug));
    EXPECT_NE(code_of(image, "divided"), code_without_options(mode, "divided"));
    EXPECT_FALSE(has_section(image, ".debug_info"));
    EXPECT_THAT(image.warnings, Contains(HasSubstr(".debug_info section not found")));
  }
}

TEST_F(LinkOptions, OverrideTheFloatFlagsInLtoMode)
{
  for (auto const& set : {change([](link_options& o) { o.ftz = true; }),
                          change([](link_options& o) { o.prec_div = false; }),
                          change([](link_options& o) { o.fma = false; })})
    EXPECT_TRUE(changes_code(link_mode::lto, "divided", set));
}

TEST_F(LinkOptions, DoNotChangeTheSquareRootsOfNvcc)
{
  EXPECT_FALSE(
      changes_code(link_mode::lto, "divided", [](link_options& o) { o.prec_sqrt = false; }));
}

TEST_F(LinkOptions, ProtectTheStackOfFunctionsThatStayCalls)
{
  auto const protect = [](link_options& o) { o.stack_protector = true; };
  EXPECT_TRUE(changes_code(link_mode::lto, "stacked", protect));
  auto const code = [&](change const& set) {
    auto sections = sections_of(link(link_mode::ptx, with_kernels({"stacked"}, set)));
    std::erase_if(sections,
                  [](auto const& section) { return !section.first.starts_with(".text"); });
    return sections;
  };
  EXPECT_NE(code({}), code(protect));
}

TEST_F(LinkOptions, OfThreadsDoNotChangeTheImageInPtxMode)
{
  auto const threads = [](unsigned count) {
    return link(link_mode::ptx, [=](link_options& o) { o.threads = count; }).bytes;
  };
  auto const of_one = threads(1);
  EXPECT_EQ(of_one, link(link_mode::ptx).bytes);
  EXPECT_EQ(threads(2), of_one);
}

TEST_F(LinkOptions, OfThreadsMakeOneImageForOneAndOneForSeveralInLtoMode)
{
  auto const threads = [](unsigned count) {
    return link(link_mode::lto, [=](link_options& o) { o.threads = count; }).bytes;
  };
  auto const of_one = threads(1);
  auto const of_two = threads(2);
  EXPECT_EQ(of_one, link(link_mode::lto).bytes);
  EXPECT_EQ(of_two, threads(5));
  EXPECT_NE(of_two, of_one);
}

TEST_F(LinkOptions, OfThreadsWorkInTheSandbox)
{
  auto const image =
      linker().link(inputs(), options(link_mode::lto, [](link_options& o) { o.threads = 2; }));
  EXPECT_EQ(image.bytes, link(link_mode::lto, [](link_options& o) { o.threads = 2; }).bytes);
}

TEST_F(LinkOptions, OfTheDriversCacheDoNotChangeTheImage)
{
  auto const off = with_kernels({"k7"}, [](link_options& o) { o.driver_cache = false; });
  EXPECT_EQ(link(link_mode::lto, off).bytes, link(link_mode::lto, with_kernels({"k7"})).bytes);
}

TEST_F(LinkOptions, ArePassedToPtxas)
{
  for (auto const mode : {link_mode::ptx, link_mode::lto}) {
    EXPECT_TRUE(
        changes_code(mode, "divided", [](link_options& o) { o.ptxas = {"--def-load-cache=cv"}; }));
  }
}

TEST_F(LinkOptions, OfPtxasThatAreAllowedMakeExecutableImages)
{
  for (auto const& allowed : detail::allowed_ptxas_options()) {
    auto const value = allowed.words.empty()
                           ? std::to_string(allowed.most)
                           : std::string(allowed.words.substr(0, allowed.words.find('|')));
    auto const takes_value = !allowed.words.empty() || allowed.most != 0;
    // The short names only with $FATLINK_TEST_SCALE above 1.
    for (auto const name : {allowed.name, allowed.short_name}) {
      if (name != allowed.name && fixtures::scaled(1) == 1) continue;
      auto const text = std::string(name) + (takes_value ? "=" + value : "");
      auto const image =
          link(link_mode::lto, with_kernels({"k7"}, [&](link_options& o) { o.ptxas = {text}; }));
      EXPECT_THAT(symbols_of(image).kernels, Contains("k7")) << text;
    }
  }
}

TEST_F(RawNvjitlink, MakesImagesThatNoGpuLoadsWithOptionsThatAreRefused)
{
  for (std::string const option : {"-c", "--compile-only", "-ewp", "--extensible-whole-program"}) {
    auto const image = link_raw({"-kernels-used=k7", "-Xptxas=" + option, "-lto"});
    expect_error<file_error>([&] { detail::check_executable(image.bytes); },
                             "not that of an executable, so no GPU loads it");
  }
  EXPECT_NO_THROW(detail::check_executable(link_raw({"-kernels-used=k7", "-lto"}).bytes));
}

TEST_F(LinkOptions, ArePassedToLibnvvm)
{
  auto const table =
      with_kernels({"k7"}, [](link_options& o) { o.nvvm = {"-jump-table-density=10"}; });
  EXPECT_THAT(symbols_of(link(link_mode::lto, table)).kernels, ElementsAre("k7"));
}

TEST_F(RawNvjitlink, DropsEveryKernelWithAnOptionThatIsRefused)
{
  linked_image image;
  image.bytes = link_raw({"-Xnvvm=-host-ref-ek=x", "-lto"}).bytes;
  EXPECT_THAT(symbols_of(image).kernels, IsEmpty());
}

TEST_F(LinkOptions, AreTakenTogether)
{
  auto const image = link(link_mode::lto, [](link_options& o) {
    o.kernels = {"scaled", "wide"};
    o.variables = {"host_scale"};
    o.max_registers = 40;
    o.optimization = 3;
    o.line_info = true;
    o.ftz = true;
    o.stack_protector = true;
    o.threads = 2;
    o.driver_cache = false;
    o.ptxas = {"--def-load-cache=cg", "--warn-on-spills"};
    o.nvvm = {"-jump-table-density=10"};
  });
  EXPECT_THAT(symbols_of(image).kernels, UnorderedElementsAre("scaled", "wide"));
  EXPECT_TRUE(image.inlined());
}

TEST_F(LinkOptions, WithoutEffectWouldBeIgnoredByNvjitlink)
{
  auto const plain = link_raw({"-kernels-used=k7"}).bytes;
  EXPECT_EQ(link_raw({"-kernels-used=k7", "-ftz=1", "-prec-div=0", "-fma=0", "-prec-sqrt=0",
                      "-Xnvvm=-nonsense", "-optimize-unused-variables"})
                .bytes,
            plain);
}

TEST_F(LinkOptions, OfPtxasWouldBeIgnoredWherePtxIsEmitted)
{
  auto const ptx = [](std::vector<std::string> texts) {
    std::vector<detail::link_input> parts;
    for (auto const& input : inputs())
      parts.push_back(
          detail::link_input::write(input, *linked_entry(input, {"sm_90", link_mode::lto})));
    texts.insert(texts.end(), {"-arch=sm_90", "-lto", "-ptx", "-kernels-used=wide"});
    return detail::link_in_process(*nvjitlink::open(), parts, texts, image_kind::ptx).bytes;
  };
  auto const plain = ptx({});
  for (auto const* ignored :
       {"-maxrregcount=32", "-lineinfo", "--device-stack-protector=true", "-Xptxas=--nonsense"})
    EXPECT_EQ(ptx({ignored}), plain) << ignored;
  EXPECT_EQ(ptx({"-g"}) == plain, debug_optimizes());
}
