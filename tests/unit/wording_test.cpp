// SPDX-License-Identifier: Apache-2.0
// Names in messages as each interface spells them: C++, C, the program, Python.
#include <gtest/gtest.h>

#include <thread>

#include "base/wording.hpp"
#include "fatlink/error.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_text = "set <link_options::kernels>, or <link_mode::lto>";

std::string text_in(wording words)
{
  wording_scope const scope(words);
  return in_words(k_text);
}

TEST(Wording, IsThatOfTheInterface)
{
  EXPECT_EQ(text_in(wording::cxx), "set link_options::kernels, or link_mode::lto");
  EXPECT_EQ(text_in(wording::c), "set fatlink_link_options.kernels, or FATLINK_MODE_LTO");
  EXPECT_EQ(text_in(wording::program), "set --kernel, or --mode lto");
  EXPECT_EQ(text_in(wording::python), "set kernels, or mode=\"lto\"");
  EXPECT_EQ(text_in(wording::none), k_text);
}

TEST(Wording, IsCxxAtFirstAndAfterAScope)
{
  EXPECT_EQ(current_wording(), wording::cxx);
  {
    wording_scope const outer(wording::c);
    {
      wording_scope const inner(wording::program);
      EXPECT_EQ(current_wording(), wording::program);
    }
    EXPECT_EQ(current_wording(), wording::c);
    std::thread([] { EXPECT_EQ(current_wording(), wording::cxx); }).join();
  }
  EXPECT_EQ(current_wording(), wording::cxx);
}

TEST(Wording, LeavesOtherTexts)
{
  for (auto const* text : {"", "<", "a < b", "#include <cmath>", "<cuda/std/limits>", "a > b < c",
                           "<<link_options::kernel>"})
    EXPECT_EQ(in_words(text), text);
  EXPECT_EQ(in_words("<<link_mode::ptx>>"), "<link_mode::ptx>");
}

TEST(Wording, MayBeEmpty)
{
  wording_scope const scope(wording::program);
  EXPECT_EQ(in_words("<, cache_settings::folder><link_mode::ptx>"), "--mode ptx");
}

TEST(Wording, OfAnErrorIsThatInWhichItIsMade)
{
  wording_scope const scope(wording::program);
  usage_error const failure({.message = "<link_options::ftz>: no",
                             .input = "<link_options::ftz>",
                             .log = "<link_options::ftz>",
                             .hint = "leave out <link_options::ftz>"});
  EXPECT_STREQ(failure.what(), "--ftz: no");
  EXPECT_EQ(failure.details().message, "--ftz: no");
  EXPECT_EQ(failure.details().input, "--ftz");
  EXPECT_EQ(failure.details().hint, "leave out --ftz");
  EXPECT_EQ(failure.details().log, "<link_options::ftz>");
}

}  // namespace
}  // namespace fatlink::detail
