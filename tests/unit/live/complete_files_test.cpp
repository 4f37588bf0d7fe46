// SPDX-License-Identifier: Apache-2.0
// When files that are being replaced are a complete version.
#include <gtest/gtest.h>

#include <thread>

#include "expect_error.hpp"
#include "fatlink/format_error.hpp"
#include "input/find_sidecar.hpp"
#include "live/watch/stable_reader.hpp"
#include "watched_files.hpp"

using namespace fatlink;
using detail::stable_reader;
using fixtures::k_watch_limit;
using std::chrono::milliseconds;

namespace {

class StableReader : public testing::Test {
 protected:
  /// Reads at the times that the reader asks for, until there is a version.
  std::optional<stable_reader::version> read_on()
  {
    while (reader_.is_waiting()) {
      std::this_thread::sleep_until(reader_.next_read());
      if (auto version = reader_.read()) return version;
    }
    return std::nullopt;
  }

  fixtures::watched_files files_;
  stable_reader reader_{{files_.fatbin()}, k_watch_limit};
};

}  // namespace

TEST_F(StableReader, ExpectsNothingBeforeAChange)
{
  EXPECT_FALSE(reader_.is_waiting());
  EXPECT_EQ(reader_.next_read(), stable_reader::clock::time_point::max());
}

TEST_F(StableReader, TakesAVerifiedFileAtOnce)
{
  files_.write_pair(1);
  reader_.note_change();
  auto const version = reader_.read();
  ASSERT_TRUE(version);
  EXPECT_TRUE(stable_reader::is_verified(*version));
  EXPECT_EQ(version->front().digest(), files_.digest(1));
  EXPECT_EQ(detail::sidecar_of(version->front())->text(), files_.sidecar_text(1));
}

TEST_F(StableReader, ReadsAVerifiedFileOnceMoreWhenNothingChanges)
{
  files_.write_pair(1);
  reader_.note_change();
  ASSERT_TRUE(reader_.read());
  EXPECT_TRUE(reader_.is_waiting());
  EXPECT_TRUE(read_on());
  EXPECT_FALSE(reader_.is_waiting());
}

TEST_F(StableReader, TakesAFileWithoutDigestOnceItIsUnchangedForAWhile)
{
  files_.write_fatbin(1);
  reader_.note_change();
  EXPECT_FALSE(reader_.read());
  auto const version = read_on();
  ASSERT_TRUE(version);
  EXPECT_FALSE(stable_reader::is_verified(*version));
}

TEST_F(StableReader, WaitsForTheSidecarOfANewFile)
{
  files_.write_pair(1);
  files_.write_fatbin(2);
  reader_.note_change();
  EXPECT_FALSE(reader_.read());
  files_.write_sidecar(2);
  reader_.note_change();
  EXPECT_EQ(read_on()->front().digest(), files_.digest(2));
}

TEST_F(StableReader, WaitsForTheFileOfANewSidecar)
{
  files_.write_pair(1);
  files_.write_sidecar(2);
  reader_.note_change();
  EXPECT_FALSE(reader_.read());
  files_.write_fatbin(2);
  reader_.note_change();
  EXPECT_EQ(read_on()->front().digest(), files_.digest(2));
}

TEST_F(StableReader, WaitsForHalfAFileAndHalfASidecar)
{
  auto const fatbin = files_.text_of(1), sidecar = files_.sidecar_text(1);
  files_.folder().write("x.fatbin", fatbin.substr(0, fatbin.size() / 2));
  reader_.note_change();
  EXPECT_FALSE(reader_.read());
  files_.folder().write("x.fatbin", fatbin);
  files_.folder().write("x.json", sidecar.substr(0, sidecar.size() / 2));
  reader_.note_change();
  EXPECT_FALSE(reader_.read());
  files_.folder().write("x.json", sidecar);
  reader_.note_change();
  EXPECT_TRUE(read_on());
}

TEST_F(StableReader, NamesBothFilesAndBothDigestsAfterTheLimit)
{
  files_.write_pair(1);
  files_.write_fatbin(2);
  reader_.note_change();
  expect_error<format_error>([&] { (void)read_on(); },
                             files_.fatbin().string() +
                                 ": is not the file that x.json states (sha256 " +
                                 files_.hexadecimal(1).substr(0, 12) + "…, not " +
                                 files_.hexadecimal(2).substr(0, 12) + "…) [digest-mismatch]");
  EXPECT_FALSE(reader_.is_waiting());
}

TEST_F(StableReader, SaysAfterTheLimitThatAFileIsMissing)
{
  reader_.note_change();
  expect_error<file_error>([&] { (void)read_on(); }, "x.fatbin: no such file");
}

TEST_F(StableReader, SaysAfterTheLimitThatASidecarIsMalformed)
{
  files_.write_fatbin(1);
  files_.folder().write("x.json", "{");
  reader_.note_change();
  expect_error<file_error>([&] { (void)read_on(); }, "x.json: is not JSON");
}

TEST_F(StableReader, EndsAWaitInWhichFilesKeepChanging)
{
  files_.write_pair(1);
  files_.write_fatbin(2);
  EXPECT_THROW(
      for (int i = 0; i < 6000; ++i) {
        reader_.note_change();
        (void)reader_.read();
        std::this_thread::sleep_for(milliseconds(10));
      },
      format_error);
}

TEST_F(StableReader, WaitsForASidecarThatWasThere)
{
  files_.write_pair(1);
  reader_.note_change();
  (void)read_on();
  std::filesystem::remove(files_.sidecar());
  reader_.note_change();
  std::this_thread::sleep_for(stable_reader::k_quiet);
  EXPECT_FALSE(reader_.read());
  auto const version = read_on();
  ASSERT_TRUE(version) << "a sidecar that stays away is no error";
  EXPECT_EQ(detail::sidecar_of(version->front()), nullptr);
}

TEST_F(StableReader, ReadsTheSidecarOfAFileOfAnotherForm)
{
  auto const text = files_.sidecar_text(1);
  stable_reader reader({files_.folder().write("y.bin", files_.text_of(1))}, k_watch_limit);
  files_.folder().write("y.bin.json", text);
  reader.note_change();
  auto const version = reader.read();
  ASSERT_TRUE(version);
  EXPECT_EQ(detail::sidecar_of(version->front())->text(), text);
}
