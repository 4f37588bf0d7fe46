// SPDX-License-Identifier: Apache-2.0
// When versions are unloaded, on a device whose work the test finishes.
#include "live/publication.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "asynchronous_device.hpp"
#include "live_fixture.hpp"

using namespace fatlink;
using fixtures::comes_true;
using fixtures::store_inputs;

namespace {

class Publication : public testing::Test {
 protected:
  void TearDown() override { backend_->finish(); }

  /// Gives the thread that unloads versions the time to do so wrongly.
  [[nodiscard]] bool stays(int loaded) const
  {
    for (int i = 0; i < 50; ++i) {
      if (backend_->loaded() != loaded) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  [[nodiscard]] bool becomes(int loaded) const
  {
    return comes_true([&] { return backend_->loaded() == loaded; });
  }

  std::shared_ptr<fixtures::asynchronous_device> backend_ =
      std::make_shared<fixtures::asynchronous_device>();
  fixtures::live_store store_{device(backend_)};
};

}  // namespace

TEST_F(Publication, UnloadsAVersionThatNothingUsed)
{
  store_.live.swap(store_inputs(1));
  store_.live.swap(store_inputs(2));
  EXPECT_TRUE(becomes(1));
}

TEST_F(Publication, UnloadsAVersionOnlyAfterTheDeviceHasFinishedItsLaunches)
{
  store_.live.swap(store_inputs(1));
  (void)store_.launch(store_.kernel());
  store_.live.swap(store_inputs(2));
  EXPECT_TRUE(stays(2));
  backend_->finish();
  EXPECT_TRUE(becomes(1));
}

TEST_F(Publication, KeepsAVersionWhileALaunchOfItIsInProgress)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  std::promise<void> is_launching;
  std::promise<void> may_go_on;
  backend_->during_launch = [&] {
    is_launching.set_value();
    may_go_on.get_future().wait();
  };
  auto value = std::async(std::launch::async, [&] { return store_.launch(store); });
  is_launching.get_future().wait();
  store_.live.swap(store_inputs(2));
  EXPECT_TRUE(stays(2));
  may_go_on.set_value();
  EXPECT_EQ(value.get(), 1);
  backend_->during_launch = nullptr;
  backend_->finish();
  EXPECT_TRUE(becomes(1));
}

TEST_F(Publication, WaitsForTheLaunchesOfEveryStream)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  (void)store_.launch(store, backend_->stream_of(1));
  backend_->finish();
  (void)store_.launch(store, backend_->stream_of(2));
  (void)store_.launch(store, backend_->stream_of(1));
  EXPECT_EQ(backend_->events(), 2U) << "one for each stream";
  store_.live.swap(store_inputs(2));
  EXPECT_TRUE(stays(2));
  backend_->finish();
  EXPECT_TRUE(becomes(1));
}

TEST_F(Publication, TellsStreamsApartThatHaveOneHandleAfterAnother)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  auto* const first = backend_->stream_of(1);
  (void)store_.launch(store, first);
  auto* const second = backend_->stream_of(2);
  ASSERT_EQ(first, second);
  (void)store_.launch(store, second);
  EXPECT_EQ(backend_->events(), 2U);
}

TEST_F(Publication, UsesTheEventsOfStreamsThatHaveGoneAgain)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  for (std::uint64_t id = 0; id < 2000; ++id) {
    (void)store_.launch(store, backend_->stream_of(id));
    backend_->finish();
  }
  EXPECT_LT(backend_->events(), 200U);
}

TEST_F(Publication, KeepsVersionsWhoseLaunchesWereCaptured)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  backend_->is_capturing = true;
  (void)store_.launch(store);
  backend_->is_capturing = false;
  EXPECT_EQ(backend_->events(), 0U);
  store_.live.swap(store_inputs(2));
  EXPECT_TRUE(stays(2));
  store_.live.swap(store_inputs(3));
  EXPECT_TRUE(becomes(2));
}

TEST_F(Publication, KeepsVersionsThatNoEventCovers)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  backend_->fails_to_record = true;
  EXPECT_EQ(store_.launch(store), 1);
  backend_->fails_to_record = false;
  store_.live.swap(store_inputs(2));
  EXPECT_TRUE(stays(2));
}

TEST_F(Publication, UnloadsWhatWasRefusedAtOnce)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  EXPECT_THROW(store_.live.swap({fixtures::ptx_input(fixtures::store_text(2, "other"))}),
               file_error);
  EXPECT_EQ(backend_->loaded(), 1);
}

TEST_F(Publication, WaitsForTheDeviceAtItsEnd)
{
  std::thread finishing;
  {
    fixtures::live_store store{device(backend_)};
    store.live.swap(store_inputs(1));
    (void)store.launch(store.kernel());
    finishing = std::thread([&] {
      EXPECT_TRUE(stays(1));
      backend_->finish();
    });
  }
  EXPECT_EQ(backend_->loaded(), 0);
  finishing.join();
  EXPECT_EQ(backend_->events(), 0U);
}
