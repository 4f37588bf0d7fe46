// SPDX-License-Identifier: Apache-2.0
#include "fatlink/output_file.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
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

TEST(OutputFile, HasNoNameBeforeCommit)
{
  fixtures::folder const folder;
  output_file file(folder.path() / "out");
  file.write(view("half"));
  EXPECT_TRUE(folder.empty());
  file.commit();
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "out"), 4U);
}

TEST(OutputFile, LeavesOneFileWhereOneWasReplaced)
{
  fixtures::folder const folder;
  output_file file(folder.write("out", "old"));
  file.write(view("new"));
  file.commit();
  auto const files = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(OutputFile, WritesToAStreamByCommitOnly)
{
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  std::array<char, 8> text{};
  {
    output_file file(ends[1], "standard output");
    file.write(view("ab"));
    file.write(view("c"));
    pollfd reader{.fd = ends[0], .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&reader, 1, 0), 0);
    file.commit();
  }
  EXPECT_EQ(::write(ends[1], "d", 1), 1) << "the stream stays open";
  EXPECT_EQ(::read(ends[0], text.data(), text.size()), 4);
  EXPECT_STREQ(text.data(), "abcd");
  ::close(ends[0]);
  ::close(ends[1]);
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
