// SPDX-License-Identifier: Apache-2.0
#include "util/files/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixtures.hpp"

using fatlink::detail::remove_temporaries;
using fatlink::detail::temporary_name;

TEST(TemporaryName, OfALivingObjectIsRemovedAndOthersStay)
{
  fixtures::folder const folder;
  auto const other = folder.write("other", "x");
  auto const path = folder.write("temporary", "x");
  auto const child = ::fork();  // the process must end after remove_temporaries
  if (child == 0) {
    {
      temporary_name const gone(AT_FDCWD, other);
    }
    temporary_name const name(AT_FDCWD, path);
    remove_temporaries();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::exists(other));
}
