// SPDX-License-Identifier: Apache-2.0
// What nvJitLink receives of the options of a link, and what the cache key holds.
#include "linker/run_nvjitlink.hpp"

#include <gmock/gmock.h>

#include <set>

#include "fixtures.hpp"
#include "link_option_changes.hpp"
#include "linker/check_links.hpp"

using namespace fatlink;
using fixtures::change;
using fixtures::changed;
using fixtures::changes;
using fixtures::library_and_transform;
using fixtures::lto;
using testing::Contains;
using testing::ElementsAre;

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
