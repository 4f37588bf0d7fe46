// SPDX-License-Identifier: Apache-2.0
// Results that wait in a temporary file.
#include "verification/scratch_floats.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "fatlink/error.hpp"

namespace fatlink::detail {
namespace {

/// TMPDIR for a test.
class temporary_folder {
 public:
  explicit temporary_folder(char const* folder)
  {
    if (char const* const value = std::getenv("TMPDIR")) before_ = value;
    ::setenv("TMPDIR", folder, 1);
  }
  ~temporary_folder()
  {
    if (before_.empty())
      ::unsetenv("TMPDIR");
    else
      ::setenv("TMPDIR", before_.c_str(), 1);
  }
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;

 private:
  std::string before_;
};

TEST(ScratchFloats, ReturnWhatWasAppendedFromAnyStart)
{
  scratch_floats file;
  ASSERT_TRUE(file.append(std::vector{1.0F, 2.0F, 3.0F}));
  ASSERT_TRUE(file.append(std::vector{4.0F}));
  std::vector<float> values(3);
  file.read(values, 1);
  EXPECT_EQ(values, (std::vector{2.0F, 3.0F, 4.0F}));
}

TEST(ScratchFloats, ReportAFileThatEndsEarly)
{
  scratch_floats file;
  ASSERT_TRUE(file.append(std::vector{1.0F}));
  std::vector<float> values(2);
  expect_error<file_error>([&] { file.read(values, 0); },
                           "a temporary file ends before the results");
}

TEST(ScratchFloats, TakeNothingInAFolderThatDoesNotExist)
{
  temporary_folder const folder("/nonexistent");
  scratch_floats file;
  EXPECT_FALSE(file.append(std::vector{1.0F}));
}

}  // namespace
}  // namespace fatlink::detail
