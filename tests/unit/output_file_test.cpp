// SPDX-License-Identifier: Apache-2.0
#include "fatlink/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "expect_error.hpp"
#include "fixtures.hpp"

using namespace fatlink;

namespace {

bytes_view view(std::string const& text)
{
  return std::as_bytes(std::span(text));
}

}  // namespace

TEST(OutputFile, AppearsOnlyByCommit)
{
  fixtures::folder const folder;
  auto const path = folder.write("out", "old");
  output_file file(path);
  file.write(view("new"));
  EXPECT_EQ(std::filesystem::file_size(path), 3U);
  EXPECT_EQ(std::ifstream(path).get(), 'o');
  file.commit();
  EXPECT_EQ(std::ifstream(path).get(), 'n');
}

TEST(OutputFile, LeavesNothingWithoutCommit)
{
  fixtures::folder const folder;
  output_file(folder.path() / "out").write(view("half"));
  EXPECT_TRUE(folder.empty());
}

TEST(OutputFile, NamesWhatCannotBeWritten)
{
  fixtures::folder const folder;
  expect_error<file_error>([&] { output_file(folder.path() / "none" / "out"); },
                           "No such file or directory");
  expect_error<file_error>([&] { output_file{folder.path()}; }, "Is a directory");
}

TEST(OutputFile, WritesDevicesAsTheyAre)
{
  output_file file("/dev/null");
  file.write(view("gone"));
  file.commit();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(OutputFile, ReportsAFullDisk)
{
  output_file file("/dev/full");
  expect_error<file_error>([&] { file.write(view("x")); }, "No space left on device");
}
