// SPDX-License-Identifier: Apache-2.0
// Each behaviour with inotify, and by looking at the files.
#include "live/watch/file_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <thread>

#include "fixtures.hpp"

using fatlink::detail::file_watch;
namespace fs = std::filesystem;

namespace {

class FileWatch : public testing::TestWithParam<bool> {
 protected:
  FileWatch() : watch_(GetParam()) {}

  [[nodiscard]] fs::path at(std::string const& name) const { return folder_.path() / name; }
  /// What wait() returns after `change`, which another thread makes.
  fs::path wait_for(std::function<void()> const& change)
  {
    std::thread changing([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      change();
    });
    auto const changed = watch_.wait();
    changing.join();
    return changed;
  }

  fixtures::folder folder_;
  file_watch watch_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(With, FileWatch, testing::Bool(),
                         [](auto const& with) { return with.param ? "Events" : "Looks"; });

TEST_P(FileWatch, ReturnsWhatIsWritten)
{
  watch_.add({folder_.write("a", "x"), folder_.write("b", "x")});
  EXPECT_EQ(wait_for([&] { folder_.write("b", "longer"); }), at("b"));
}

TEST_P(FileWatch, ReturnsWhatIsReplacedByAFileOfTheSameSize)
{
  watch_.add({folder_.write("a", "x")});
  EXPECT_EQ(wait_for([&] { fs::rename(folder_.write("b", "y"), at("a")); }), at("a"));
}

TEST_P(FileWatch, ReturnsWhatIsWrittenWithItsOldTime)
{
  watch_.add({folder_.write("a", "x")});
  struct stat before {};
  ASSERT_EQ(::stat(at("a").c_str(), &before), 0);
  EXPECT_EQ(wait_for([&] {
              folder_.write("a", "y");
              std::array const times{before.st_atim, before.st_mtim};
              ::utimensat(AT_FDCWD, at("a").c_str(), times.data(), 0);
            }),
            at("a"));
}

TEST_P(FileWatch, ReturnsWhatAppears)
{
  watch_.add({at("a")});
  EXPECT_EQ(wait_for([&] { folder_.write("a", "x"); }), at("a"));
}

TEST_P(FileWatch, ReturnsWhatIsRemoved)
{
  watch_.add({folder_.write("a", "x")});
  EXPECT_EQ(wait_for([&] { fs::remove(at("a")); }), at("a"));
}

TEST_P(FileWatch, ReturnsALinkWhoseTargetIsWritten)
{
  fs::create_directory(at("real"));
  folder_.write("real/a", "x");
  fs::create_symlink("real/a", at("a"));
  watch_.add({at("a")});
  EXPECT_EQ(wait_for([&] { folder_.write("real/a", "longer"); }), at("a"));
}

TEST_P(FileWatch, ReturnsAFileInAFolderThatIsRemovedAndMadeAgain)
{
  fs::create_directory(at("sub"));
  watch_.add({folder_.write("sub/a", "x")});
  EXPECT_EQ(wait_for([&] { fs::remove_all(at("sub")); }), at("sub/a"));
  EXPECT_EQ(wait_for([&] {
              fs::create_directory(at("sub"));
              folder_.write("sub/a", "x");
            }),
            at("sub/a"));
  EXPECT_EQ(wait_for([&] { folder_.write("sub/a", "longer"); }), at("sub/a"));
}

TEST_P(FileWatch, CountsAChangeBeforeTheWait)
{
  watch_.add({folder_.write("a", "x")});
  folder_.write("a", "longer");
  EXPECT_EQ(watch_.wait(), at("a"));
}

TEST_P(FileWatch, ReturnsTheFirstOfSeveralOnce)
{
  watch_.add({folder_.write("a", "x"), folder_.write("b", "x")});
  folder_.write("b", "longer");
  folder_.write("a", "longer");
  EXPECT_EQ(watch_.wait(), at("a"));
  EXPECT_TRUE(watch_.find_change().empty());
}

TEST_P(FileWatch, CountsAFileThatWasWrittenAfterItWasRead)
{
  watch_.add({folder_.write("a", "x")});
  folder_.write("a", "longer");
  (void)watch_.wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // file systems count in ticks
  watch_.add_read({folder_.write("b", "x")});
  EXPECT_EQ(watch_.find_change(), at("b"));
}

TEST_P(FileWatch, DoesNotCountAFileThatWasReadLater)
{
  folder_.write("b", "x");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  file_watch later(GetParam());
  later.add_read({at("b")});
  EXPECT_TRUE(later.find_change().empty());
}

TEST_P(FileWatch, OfAFolderCountsOnlyThatItIsThere)
{
  fs::create_directory(at("sub"));
  watch_.add({at("sub")});
  folder_.write("sub/a", "x");
  EXPECT_TRUE(watch_.find_change().empty());
  fs::remove_all(at("sub"));
  EXPECT_EQ(watch_.find_change(), at("sub"));
}

TEST_P(FileWatch, IsStoppedByAnotherThread)
{
  watch_.add({folder_.write("a", "x")});
  EXPECT_EQ(wait_for([&] { watch_.stop(); }), fs::path());
  EXPECT_TRUE(watch_.is_stopped());
}

/// The child has a queue of its own: it takes no event from the parent.
TEST_P(FileWatch, GoesOnInParentAndChild)
{
  watch_.add({folder_.write("a", "x")});
  (void)watch_.find_change();
  auto const child = ::fork();
  if (child == 0) ::_exit(watch_.wait() == at("a") ? 0 : 1);
  EXPECT_EQ(wait_for([&] { folder_.write("a", "longer"); }), at("a"));
  auto status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
