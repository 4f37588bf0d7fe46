// SPDX-License-Identifier: Apache-2.0
// Options for ptxas and libNVVM that fatlink does not pass on.
#include "linker/raw_options.hpp"

#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "link_option_changes.hpp"

using namespace fatlink;
using fixtures::change;
using fixtures::changed;
using fixtures::lto;

namespace {

void expect_invalid(change const& set, std::string const& text)
{
  auto const options = changed(lto(), set);
  expect_error<usage_error>([&] { check_link_options(options); }, text);
}

}  // namespace

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
