// SPDX-License-Identifier: Apache-2.0
#include "live/watch/complete_file.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "watched_files.hpp"

using namespace fatlink;

/// The two are read one after the other, and may be replaced in between.
TEST(CompleteFile, IsNeverOneWithTheSidecarOfAnother)
{
  fixtures::watched_files const files;
  files.write_pair(1);
  std::atomic<bool> ended = false;
  std::jthread const replacing([&] {
    for (int i = 0; !ended; ++i) files.write_pair(1 + i % 2);
  });
  auto whole = 0, mixed = 0;
  for (int i = 0; i < 3000; ++i) try {
      auto const file = detail::read_complete(files.fatbin());
      auto const number = file.code.digest() == files.digest(1) ? 1 : 2;
      ++(file.sidecar == files.sidecar_text(number) ? whole : mixed);
    } catch (file_error const&) {
      continue;
    }
  ended = true;
  EXPECT_GT(whole, 0);
  EXPECT_EQ(mixed, 0);
}
