// SPDX-License-Identifier: Apache-2.0
#include "linker/check_opaque_inputs.hpp"

#include <gtest/gtest.h>

using fatlink::detail::read_duplicate;

TEST(FindDuplicates, ReadsTheSymbolAndTheLaterFileFromTheLog)
{
  for (auto const* log :
       {"ERROR in nvvmCompileProgram: NVVM_ERROR_COMPILATION\n"  // 13.0
        "lib.a(b.o): link error: error: Linking globals named 'f': symbol multiply defined!\n",
        "lib.a(b.o): link error: error: Linking globals named 'f': symbol multiply defined!\n\n"
        "ERROR NVVM_ERROR_COMPILATION (9) in nvvmCompileProgram\n"}) {  // 13.3
    auto const report = read_duplicate(log);
    ASSERT_TRUE(report) << log;
    EXPECT_EQ(report->symbol, "f");
    EXPECT_EQ(report->file, "lib.a(b.o)");
  }
}

TEST(FindDuplicates, ReadsNothingFromOtherLogs)
{
  for (auto const* log :
       {"", "ptxas fatal   : Unresolved extern function 'f'", "Linking globals named 'f",
        "Linking globals named 'f': symbol multiply defined!",
        "a: link error: error: Linking globals named 'f': symbols have different types",
        "a: link error: error: symbol multiply defined!"})
    EXPECT_FALSE(read_duplicate(log)) << log;
}
