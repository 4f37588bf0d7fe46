// SPDX-License-Identifier: Apache-2.0
// Failed links of which a raw option is the cause. The logs are those of nvJitLink 13.0.
#include "linker/link_options.hpp"

#include <gtest/gtest.h>

#include "link_option_changes.hpp"

using namespace fatlink;
using fixtures::changed;
using fixtures::lto;

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
            "ptxas option '--warn-on-spills': this nvJitLink does not take it: ptxas fatal   : "
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
