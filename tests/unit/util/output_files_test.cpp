// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all, and temporary names.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>

#include "expect_error.hpp"
#include "fixtures.hpp"
#include "util/files/output_file.hpp"

using namespace fatlink;
using fatlink::detail::remove_temporaries;
using fatlink::detail::temporary_name;

namespace {

std::atomic<int> umask_calls = 0;

bytes_view view(std::string const& text)
{
  return std::as_bytes(std::span(text));
}

std::string read_text(std::filesystem::path const& file)
{
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_new(std::filesystem::path const& file)
{
  output_file out(file);
  out.write(view("new"));
  out.commit();
}

}  // namespace

/// Stands before the C library's: the mask belongs to all threads of the host.
extern "C" mode_t umask(mode_t mask) noexcept
{
  ++umask_calls;
  return static_cast<mode_t>(::syscall(SYS_umask, mask));
}

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

TEST(OutputFile, HasTheModeThatTheUmaskLeavesAndNeverChangesTheUmask)
{
  fixtures::folder const folder;
  auto const before = ::umask(027);
  umask_calls = 0;
  write_new(folder.path() / "out");
  EXPECT_EQ(umask_calls, 0);
  ::umask(before);
  struct stat facts {};
  ASSERT_EQ(::stat((folder.path() / "out").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0640U);
}

TEST(OutputFile, NeverBecomesAClosedStandardStream)
{
  fixtures::folder const folder;
  auto const child = ::fork();  // whose streams are closed
  if (child == 0) {
    for (auto const stream : {0, 1, 2}) ::close(stream);
    output_file file(folder.path() / "out");
    for (auto const stream : {0, 1, 2}) (void)!::write(stream, "noise", 5);
    file.write(view("new"));
    for (auto const stream : {0, 1, 2}) (void)!::write(stream, "noise", 5);
    file.commit();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_text(folder.path() / "out"), "new");
}

TEST(OutputFile, IsWrittenThroughASymbolicLink)
{
  fixtures::folder const folder;
  fixtures::folder const elsewhere;
  auto const file = elsewhere.write("file", "old");
  create_symlink(file, folder.path() / "absolute");
  create_symlink("absolute", folder.path() / "relative");
  write_new(folder.path() / "relative");
  EXPECT_EQ(read_text(file), "new");
  EXPECT_TRUE(is_symlink(folder.path() / "relative"));
  EXPECT_TRUE(is_symlink(folder.path() / "absolute"));
}

TEST(OutputFile, IsMadeWhereADanglingLinkPoints)
{
  fixtures::folder const folder;
  create_directory(folder.path() / "below");
  create_symlink("below/file", folder.path() / "link");
  write_new(folder.path() / "link");
  EXPECT_EQ(read_text(folder.path() / "below" / "file"), "new");
  EXPECT_TRUE(is_symlink(folder.path() / "link"));
}

TEST(OutputFile, AppearsThroughALinkOnlyByCommit)
{
  fixtures::folder const folder;
  auto const file = folder.write("file", "old");
  create_symlink("file", folder.path() / "link");
  output_file out(folder.path() / "link");
  out.write(view("newer"));
  EXPECT_EQ(read_text(file), "old");
}

TEST(OutputFile, NamesALinkThatCannotBeWrittenThrough)
{
  fixtures::folder const folder;
  create_symlink("loop", folder.path() / "loop");
  expect_error<file_error>([&] { output_file(folder.path() / "loop"); },
                           "loop: cannot be written: Too many levels of symbolic links");
  create_symlink("none/file", folder.path() / "nowhere");
  expect_error<file_error>([&] { output_file(folder.path() / "nowhere"); },
                           "nowhere: cannot be written: No such file or directory");
}

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
