// SPDX-License-Identifier: Apache-2.0
// Options for ptxas and libNVVM that fatlink does not pass on.
#include "linker/link_options.hpp"

#include <gtest/gtest.h>

#include "link_option_changes.hpp"

using namespace fatlink;
using fixtures::changed;
using fixtures::expect_invalid;
using fixtures::lto;

TEST(RawOptions, ThatFatlinkHasItselfAreRefused)
{
  for (auto const* option :
       {"-O1", "-O", "--opt-level=1", "-Ofc=max", "--Ofast-compile=max", "-maxrregcount=32",
        "--maxrregcount=999", "-g", "--device-debug", "-lineinfo", "--generate-line-info",
        "--split-compile=0", "--device-stack-protector=true", "-arch=sm_80", "--gpu-name=sm_80",
        "--entry=k", "-e", "-fmad=false", "--fmad=false"})
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
                   "ptxas option '" + std::string(option) + "': it is not one of those that are");
  for (auto const* option : {"-gen-lto", "-host-ref-ek=x", "-inline-info", "-help", "-foo"})
    expect_invalid([&](link_options& o) { o.nvvm = {option}; },
                   "nvvm option '" + std::string(option) + "': it is not one of those that are");
}

TEST(RawOptions, AreSpelledInFull)
{
  for (auto const* option : {"--def-load-cach=cg", "--def-load=cg", "--dlcm=cg",
                             "-def-load-cache=cg", "---def-load-cache=cg", "--warn", "-W"})
    expect_invalid([&](link_options& o) { o.ptxas = {option}; }, "it is not one of those that are");
  expect_invalid([](link_options& o) { o.nvvm = {"--jump-table-density=10"}; },
                 "it is not one of those that are");
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
