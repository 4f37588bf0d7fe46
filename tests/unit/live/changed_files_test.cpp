// SPDX-License-Identifier: Apache-2.0
// How changes of files are noticed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <functional>
#include <thread>

#include "fixtures.hpp"
#include "inotify_refusal.hpp"
#include "live/watch/file_watch.hpp"
#include "live/watch/folder_events.hpp"

using namespace fatlink::detail;
using fatlink::detail::file_watch;
using testing::Contains;
using testing::Not;
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

/// These stand before the C library's.
extern "C" int inotify_init1(int flags) noexcept
{
  errno = fixtures::open_refusal;
  return errno != 0 ? -1 : static_cast<int>(::syscall(SYS_inotify_init1, flags));
}
extern "C" int inotify_add_watch(int queue, char const* name, std::uint32_t mask) noexcept
{
  errno = fixtures::folder_refusal;
  return errno != 0 ? -1 : static_cast<int>(::syscall(SYS_inotify_add_watch, queue, name, mask));
}

namespace {

/// Long enough for an event that is there; an event that is missing costs a test this time.
folder_events::clock::time_point soon()
{
  return folder_events::clock::now() + std::chrono::milliseconds(50);
}

class FolderEvents : public testing::Test {
 protected:
  /// Follows `file`; whether `change` makes an event.
  bool wakes(fs::path const& file, std::function<void()> const& change)
  {
    folder_events events;
    events.follow({file});
    EXPECT_FALSE(events.wait(soon())) << "an event before the change";
    change();
    return events.wait(soon());
  }
  void append(std::string const& name) const
  {
    std::ofstream(folder_.path() / name, std::ios::app) << "more";
  }
  [[nodiscard]] fs::path at(std::string const& name) const { return folder_.path() / name; }

  fixtures::folder folder_;
};

}  // namespace

TEST_F(FolderEvents, WakeWhenAFileIsWritten)
{
  auto const file = folder_.write("a", "x");
  EXPECT_TRUE(wakes(file, [&] { append("a"); }));
}

TEST_F(FolderEvents, WakeWhenAFileIsReplacedByRenaming)
{
  auto const file = folder_.write("a", "x");
  folder_.write("b", "y");
  EXPECT_TRUE(wakes(file, [&] { fs::rename(at("b"), file); }));
}

TEST_F(FolderEvents, WakeWhenAFileAppearsInAFolderThatAppears)
{
  folder_events events;
  events.follow({at("new/deep/a")});
  fs::create_directories(at("new/deep"));
  EXPECT_TRUE(events.wait(soon()));
  events.follow({at("new/deep/a")});
  folder_.write("new/deep/a", "x");
  EXPECT_TRUE(events.wait(soon()));
}

TEST_F(FolderEvents, WakeWhenTheTargetOfALinkIsWritten)
{
  fs::create_directory(at("real"));
  folder_.write("real/a", "x");
  fs::create_symlink("real/a", at("link"));
  EXPECT_TRUE(wakes(at("link"), [&] { append("real/a"); }));
}

TEST_F(FolderEvents, WakeWhenALinkInThePathIsReplaced)
{
  for (auto const* const name : {"1", "2"}) {
    fs::create_directory(at(name));
    folder_.write(std::string(name) + "/a", name);
  }
  fs::create_symlink("1", at("current"));
  fs::create_symlink("2", at("next"));
  EXPECT_TRUE(wakes(at("current/a"), [&] { fs::rename(at("next"), at("current")); }));
}

TEST_F(FolderEvents, WakeWhenAFolderAboveIsReplaced)
{
  fs::create_directories(at("top/sub"));
  folder_.write("top/sub/a", "x");
  EXPECT_TRUE(wakes(at("top/sub/a"), [&] { fs::rename(at("top"), at("old")); }));
}

TEST_F(FolderEvents, WakeWhenAFileIsWrittenByItsOtherName)
{
  fs::create_directory(at("elsewhere"));
  auto const file = folder_.write("a", "x");
  fs::create_hard_link(file, at("elsewhere/b"));
  EXPECT_TRUE(wakes(file, [&] { append("elsewhere/b"); }));
}

TEST_F(FolderEvents, IgnoreOtherFilesOfTheFolder)
{
  auto const file = folder_.write("a", "x");
  EXPECT_FALSE(wakes(file, [&] { folder_.write("b", "y"); }));
}

TEST_F(FolderEvents, WakeAfterAnOverflowOfTheQueue)
{
  auto const file = folder_.write("a", "x");
  std::size_t most = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> most;
  if (most == 0 || most > 100'000) GTEST_SKIP() << "a queue of " << most << " events";
  EXPECT_TRUE(wakes(file, [&] {
    for (std::size_t i = 0; i < most; i += 2) {  // to create and to remove are two events
      folder_.write("b", "");
      fs::remove(at("b"));
    }
  }));
}

TEST_F(FolderEvents, EndAWaitWhenInterrupted)
{
  folder_events events;
  events.follow({folder_.write("a", "x")});
  std::jthread const stopping([&] { events.interrupt(); });
  while (!events.is_interrupted()) (void)events.wait(folder_events::clock::time_point::max());
  EXPECT_FALSE(events.wait(folder_events::clock::time_point::max()));
}

TEST_F(FolderEvents, AreNotInheritedByPrograms)
{
  folder_events events;
  auto count = 0;
  for (auto const& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    auto const target = fs::read_symlink(entry.path(), ignored).string();
    if (target != "anon_inode:inotify" && !target.starts_with("anon_inode:[event")) continue;
    std::ifstream info("/proc/self/fdinfo/" + entry.path().filename().string());
    std::string key, flags;
    while (info >> key && key != "flags:") continue;
    info >> flags;
    EXPECT_NE(std::stoul(flags, nullptr, 8) & O_CLOEXEC, 0U) << target;
    ++count;
  }
  EXPECT_GE(count, 2);
}

TEST_F(FolderEvents, OfAParentAreNotTakenByAChild)
{
  auto const file = folder_.write("a", "x");
  folder_events events;
  events.follow({file});
  append("a");
  auto const child = ::fork();
  if (child == 0) {
    events.follow({file});
    ::_exit(events.wait(soon()) ? 1 : 0);
  }
  auto status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "the child has the parent's event";
  EXPECT_TRUE(events.wait(soon()));
}

TEST_F(FolderEvents, NameTheSysctlWhereNoInstanceIsLeft)
{
  fixtures::inotify_refusal const refusal(fixtures::open_refusal, EMFILE);
  folder_events events;
  EXPECT_FALSE(events.has_events());
  auto const warnings = events.take_warnings();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].message,
            "inotify cannot be opened: Too many open files; files are checked for changes every "
            "100 ms");
  EXPECT_EQ(warnings[0].code, "EMFILE");
  EXPECT_EQ(
      warnings[0].hint,
      "raise the sysctl fs.inotify.max_user_instances, or the limit on open files (ulimit -n)");
  EXPECT_TRUE(events.take_warnings().empty());
}

TEST_F(FolderEvents, NameTheSysctlWhereNoWatchIsLeft)
{
  folder_events events;
  fixtures::inotify_refusal const refusal(fixtures::folder_refusal, ENOSPC);
  events.follow({at("a")});
  EXPECT_FALSE(events.has_events());
  auto const warnings = events.take_warnings();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].message,
            "inotify cannot watch another folder: No space left on device; files are checked for "
            "changes every 100 ms");
  EXPECT_EQ(warnings[0].code, "ENOSPC");
  EXPECT_EQ(warnings[0].hint, "raise the sysctl fs.inotify.max_user_watches");
}

TEST_F(FolderEvents, DoNotCountOnAFolderThatCannotBeRead)
{
  fixtures::inotify_refusal const refusal(fixtures::folder_refusal, EACCES);
  folder_events events;
  events.follow({at("a")});
  EXPECT_FALSE(events.has_events());
  EXPECT_TRUE(events.take_warnings().empty());
}

namespace {

class WatchedPaths : public testing::Test {
 protected:
  [[nodiscard]] fs::path at(std::string const& name) const { return root_ / name; }
  [[nodiscard]] std::vector<path_step> to(std::string const& name) const
  {
    return steps_to(root_ / name);
  }

  fixtures::folder folder_;
  fs::path root_ = fs::canonical(folder_.path());
};

}  // namespace

TEST_F(WatchedPaths, AreTheFoldersFromTheRootAndTheFileItself)
{
  fs::create_directory(at("sub"));
  folder_.write("sub/a", "x");
  auto const steps = to("sub/./a");
  EXPECT_EQ(steps.front().folder, "/");
  EXPECT_THAT(steps, Contains(path_step{root_, "sub"}));
  EXPECT_THAT(steps, Contains(path_step{at("sub"), "a", true}));
  EXPECT_EQ(steps.back(), (path_step{at("sub/a"), "", true}));
}

TEST_F(WatchedPaths, EndAtTheFirstNameThatDoesNotExist)
{
  EXPECT_EQ(to("none/deep/a").back(), (path_step{root_, "none"}));
}

TEST_F(WatchedPaths, LeadThroughRelativeAndAbsoluteLinks)
{
  fs::create_directories(at("x/y"));
  folder_.write("x/y/a", "x");
  fs::create_symlink(at("x"), at("absolute"));
  fs::create_symlink("../absolute/y/a", at("x/relative"));
  auto const steps = to("x/relative");
  EXPECT_THAT(steps, Contains(path_step{at("x"), "relative", true}));
  EXPECT_THAT(steps, Contains(path_step{root_, "absolute"}));
  EXPECT_THAT(steps, Contains(path_step{at("x/y"), "a", true}));
  EXPECT_EQ(steps.back(), (path_step{at("x/y/a"), "", true}));
}

TEST_F(WatchedPaths, EndWithALoopOfLinks)
{
  fs::create_symlink("b", at("a"));
  fs::create_symlink("a", at("b"));
  EXPECT_LE(to("a").size(), 100U);
}

TEST_F(WatchedPaths, OfAFolderDoNotFollowItsContent)
{
  fs::create_directory(at("sub"));
  EXPECT_EQ(to("sub").back(), (path_step{root_, "sub", true}));
}
