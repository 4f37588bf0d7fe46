// SPDX-License-Identifier: Apache-2.0
#include "vendor/link_in_process.hpp"

#include <gmock/gmock.h>

using namespace fatlink::detail;

TEST(Log, TellsErrorLinesFromOthers)
{
  for (auto const* line :
       {"error   : Prototype doesn't match for 'f'", "  error: x", "@E@error   : x", "@E@ fatal: x",
        "fatal   : x", "ERROR 9: finish", "Fatal: x", "ptxas fatal   : x", "nvlink error   : x",
        "ptxas application ptx input, line 25; error   : Not a name of any known instruction"})
    EXPECT_TRUE(is_error_line(line)) << line;
  for (auto const* line :
       {"", "  ", "warning : an error", "info    : 0 bytes gmem", "@W@warning: x",
        "ptxas warning : x", "ptxas application ptx input, line 25; warning : x",
        "ptxas application ptx input, line 25 error", "SUCCESS: x", "INFO: error"})
    EXPECT_FALSE(is_error_line(line)) << line;
}

TEST(Log, TellsProgressReportsOfNewerVersions)
{
  EXPECT_TRUE(is_progress_line("SUCCESS: NVVM70 LTOIR Container created (1872 bytes)"));
  EXPECT_TRUE(is_progress_line("INFO: NVVM70 LTOIR Container created (1872 bytes)"));
  EXPECT_FALSE(is_progress_line("warning : x"));
}

TEST(Log, FindsTheFirstErrorLine)
{
  EXPECT_EQ(first_error_line("info\n\n  error: a\nfatal: b\n"), "  error: a");
  EXPECT_EQ(first_error_line("info\n"), "");
}

TEST(Log, QuotesTheNameAfterAText)
{
  EXPECT_EQ(quoted_after("error: no 'f' here 'g'", "no '"), "f");
  EXPECT_EQ(quoted_after("error: no 'f", "no '"), "f");
  EXPECT_EQ(quoted_after("error: 'f'", "no '"), "");
}
