// SPDX-License-Identifier: Apache-2.0
// A thread that waits for a link is cancelled; the next link must get its own product, not the one
// that was still to come.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <random>

#include "fixtures.hpp"
#include "needs_nvjitlink.hpp"
#include "shipped_links.hpp"
#include "test_scale.hpp"

using namespace fatlink;
using fixtures::lto;
using fixtures::shipped;

namespace {

constexpr int k_rounds = 20;
constexpr int k_longest_wait_us = 45'000;  // a link takes about that long

struct link_in_thread {
  linker work;
  std::vector<fatbin> inputs;

  static void* run(void* self)
  {
    auto& link = *static_cast<link_in_thread*>(self);
    (void)link.work.link(link.inputs, lto());
    return nullptr;
  }
};

/// Whether the thread was cancelled before its link was done.
bool cancel_during_link(link_in_thread& link, int wait_us)
{
  pthread_t thread{};
  EXPECT_EQ(pthread_create(&thread, nullptr, &link_in_thread::run, &link), 0);
  ::usleep(static_cast<useconds_t>(wait_us));
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED;
}

class CancelledLinks : public fixtures::needs_nvjitlink {
 protected:
  /// Cancels a link of relu_poly, then links gelu, in rounds.
  void run_rounds(bool with_cache)
  {
    auto const expected = linker().link(shipped("gelu"), lto()).bytes;
    std::mt19937 random(137);  // short and long waits from the first rounds on
    std::uniform_int_distribution<int> wait_us(0, k_longest_wait_us);
    int cancelled = 0;
    auto const rounds = static_cast<int>(fixtures::scaled(k_rounds));
    linker const keeps_helpers;  // from round to round
    for (int i = 0; i < rounds; ++i) {
      fixtures::folder const folder;
      linker work(
          {.cache = with_cache ? std::make_shared<link_cache>(settings_in(folder)) : nullptr});
      link_in_thread waiting{.work = work, .inputs = shipped("relu_poly")};
      cancelled += cancel_during_link(waiting, wait_us(random)) ? 1 : 0;
      ASSERT_EQ(work.link(shipped("gelu"), lto()).bytes, expected) << "round " << i;
    }
    EXPECT_GE(cancelled, rounds / 4) << "too few threads were still waiting";
    RecordProperty("cancelled", cancelled);
  }

 private:
  static cache_settings settings_in(fixtures::folder const& folder)
  {
    cache_settings settings;
    settings.folder = folder.path() / "cache";
    return settings;
  }
};

}  // namespace

TEST_F(CancelledLinks, GiveTheNextLinkItsOwnProduct)
{
  run_rounds(false);
}

TEST_F(CancelledLinks, GiveTheNextLinkItsOwnProductWithACache)
{
  run_rounds(true);
}
