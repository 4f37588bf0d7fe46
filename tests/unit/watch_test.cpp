// SPDX-License-Identifier: Apache-2.0
// Each behaviour of input_watch with inotify, and by looking at the files.
#include "fatlink/watch.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "expect_error.hpp"
#include "watched_files.hpp"

using namespace fatlink;
using fixtures::k_longest_wait;
using fixtures::k_watch_limit;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds k_no_longer(250);  // for what must not come

class InputWatch : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] watch_options options() const
  {
    return {.limit = k_watch_limit, .use_inotify = GetParam()};
  }
  /// Waits for version `number`.
  void expect_version(input_watch& watch, int number) const
  {
    auto const inputs = watch.wait(k_longest_wait);
    ASSERT_TRUE(inputs);
    EXPECT_EQ(inputs->front().digest(), files_.digest(number));
  }

  fixtures::watched_files files_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(With, InputWatch, testing::Bool(),
                         [](auto const& with) { return with.param ? "Events" : "Looks"; });

TEST_P(InputWatch, ReturnsTheVersionThatIsThere)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  EXPECT_THAT(watch.sidecars(), testing::ElementsAre(files_.sidecar_text(1)));
}

TEST_P(InputWatch, ReturnsAVersionWhoseSidecarCameFirst)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  files_.write_sidecar(2);
  EXPECT_FALSE(watch.wait(milliseconds(20)));
  files_.write_fatbin(2);
  expect_version(watch, 2);
}

TEST_P(InputWatch, ReturnsAVersionWhoseFatbinCameFirst)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  files_.write_fatbin(2);
  EXPECT_FALSE(watch.wait(milliseconds(20)));
  files_.write_sidecar(2);
  expect_version(watch, 2);
}

TEST_P(InputWatch, ReturnsAllInputsWhenOneHasChanged)
{
  files_.write_pair(1);
  auto const other = files_.folder().write("other.fatbin", files_.text_of(2));
  input_watch watch({other, files_.fatbin()}, options());
  ASSERT_TRUE(watch.wait(k_longest_wait));
  files_.write_pair(2);
  auto const inputs = watch.wait(k_longest_wait);
  ASSERT_TRUE(inputs);
  ASSERT_EQ(inputs->size(), 2U);
  EXPECT_EQ(inputs->at(0).name(), other);
  EXPECT_EQ(inputs->at(1).digest(), files_.digest(2));
}

TEST_P(InputWatch, TakesAnyLimitAndTimeout)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, {.limit = milliseconds::max()});
  EXPECT_TRUE(watch.wait(milliseconds::min()));
  files_.write_fatbin(2);
  EXPECT_FALSE(watch.wait(k_no_longer));
}

TEST_P(InputWatch, ThrowsAnIncompleteVersionOnceAndGoesOn)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  files_.write_fatbin(2);
  expect_error<format_error>([&] { (void)watch.wait(k_longest_wait); },
                             "x.fatbin: is not the file that x.json states");
  EXPECT_FALSE(watch.wait(k_no_longer));
  files_.write_sidecar(2);
  expect_version(watch, 2);
}

TEST_P(InputWatch, WaitsForFilesThatDoNotExistYet)
{
  auto const late = files_.folder().path() / "sub/late.fatbin";
  input_watch watch({late}, options());
  expect_error<file_error>([&] { (void)watch.wait(k_longest_wait); }, "late.fatbin: no such file");
  std::filesystem::create_directory(files_.folder().path() / "sub");
  files_.folder().write("sub/late.fatbin", files_.text_of(1));
  expect_version(watch, 1);
}

TEST_P(InputWatch, DoesNotReturnKnownInputs)
{
  files_.write_pair(1);
  auto changed = options();
  changed.known = {input::read(files_.fatbin())};
  input_watch watch({files_.fatbin()}, changed);
  EXPECT_FALSE(watch.wait(k_no_longer));
  files_.write_pair(2);
  expect_version(watch, 2);
}

TEST_P(InputWatch, DoesNotReturnTheSameBytesAgain)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  files_.write_pair(1);
  EXPECT_FALSE(watch.wait(k_no_longer));
}

TEST_P(InputWatch, ReturnsAVersionOfWhichOnlyTheSidecarIsNew)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  files_.write_sidecar(1, R"(, "name": "other")");
  expect_version(watch, 1);
  EXPECT_THAT(watch.sidecars().front(), testing::HasSubstr("other"));
}

TEST_P(InputWatch, TakesAFileWithoutDigestWhenItIsNoLongerWritten)
{
  files_.write_fatbin(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  for (int i = 0; i < 30; ++i) {  // for longer than it must be unchanged
    files_.write_fatbin(2 - i % 2);
    EXPECT_FALSE(watch.wait(milliseconds(5)));
  }
  files_.write_fatbin(2);
  expect_version(watch, 2);
}

TEST_P(InputWatch, KeepsTheFolderOfRelativePaths)
{
  files_.write_pair(1);
  auto const before = std::filesystem::current_path();
  std::filesystem::current_path(files_.folder().path());
  input_watch watch({"x.fatbin"}, options());
  std::filesystem::current_path(before);
  expect_version(watch, 1);
}

TEST_P(InputWatch, IsStoppedByAnotherThread)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  std::jthread const stopping([&] {
    std::this_thread::sleep_for(milliseconds(5));
    watch.stop();
  });
  EXPECT_FALSE(watch.wait(milliseconds::max()));
  EXPECT_TRUE(watch.is_stopped());
}

TEST_P(InputWatch, GoesOnInParentAndChild)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  auto const child = ::fork();
  if (child == 0) {
    auto const inputs = watch.wait(k_longest_wait);
    ::_exit(inputs && inputs->front().digest() == files_.digest(2) ? 0 : 1);
  }
  files_.write_pair(2);
  expect_version(watch, 2);
  auto status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(InputWatchArguments, AreChecked)
{
  expect_error<usage_error>([] { input_watch watch({}); }, "no file to watch");
  expect_error<usage_error>(
      [] {
        input_watch watch({"a", "b"}, {.known = {fixtures::fatbin("raw.fatbin")}});
      },
      "2 files to watch, and 1 known inputs");
  expect_error<usage_error>([] { input_watch watch({"a"}, {.limit = milliseconds(0)}); },
                            "the limit of a watch is 0 ms");
  expect_error<usage_error>([] { auto w = watch({"a"}, nullptr, [](auto&) {}); },
                            "a watch without a function for versions, or for errors");
  expect_error<usage_error>(
      [] {
        auto w = watch(
            {"a"}, [](auto) {}, nullptr);
      },
      "a watch without a function for versions, or for errors");
}
