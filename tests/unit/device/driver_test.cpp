// SPDX-License-Identifier: Apache-2.0
// The CUDA driver, in place of which the test answers: contexts, addresses, and which calls wait.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "device/cuda_driver.hpp"
#include "device/driver_gate.hpp"
#include "device/gpu_memory.hpp"
#include "expect_error.hpp"

using namespace fatlink;
using detail::context_guard;
using detail::gpu_memory_kind;
using fatlink::detail::driver_gate;

namespace {

constexpr driver_gate::duration k_instant{10};
constexpr driver_gate::duration k_hour{3'600'000'000};

/// Ends a call in another thread, a little later.
template <typename Call>
class ending_call {
 public:
  explicit ending_call(driver_gate& gate)
      : call_(std::in_place, gate), ending_([this] {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          has_ended_ = true;
          call_.reset();
        })
  {
  }
  [[nodiscard]] bool has_ended() const { return has_ended_; }

 private:
  std::optional<Call> call_;
  std::atomic<bool> has_ended_ = false;
  std::jthread ending_;
};

using ending_exclusive_call = ending_call<driver_gate::exclusive_call>;
using ending_shared_call = ending_call<driver_gate::shared_call>;
using ending_blocking_call = ending_call<driver_gate::blocking_call>;

}  // namespace

TEST(DriverGate, SharedCallWaitsUntilAnExclusiveOneEnds)
{
  driver_gate gate(k_hour);
  ending_exclusive_call exclusive(gate);
  driver_gate::shared_call const shared(gate);
  EXPECT_TRUE(exclusive.has_ended());
}

TEST(DriverGate, SharedCallWaitsForOneExclusiveCallOnly)
{
  driver_gate gate(k_instant, k_hour);
  driver_gate::exclusive_call const lasting(gate);
  std::atomic<bool> is_done = false;
  std::jthread const others([&] {
    while (!is_done) driver_gate::exclusive_call const next(gate);
  });
  for (int i = 0; i < 100; ++i) driver_gate::shared_call const shared(gate);
  is_done = true;
  SUCCEED() << "no call waited for the lasting one";
}

TEST(DriverGate, ExclusiveCallWaitsUntilAnotherEnds)
{
  driver_gate gate(k_hour);
  ending_exclusive_call first(gate);
  driver_gate::exclusive_call const second(gate);
  EXPECT_TRUE(first.has_ended());
}

TEST(DriverGate, ExclusiveCallGoesOnThoughAnotherLasts)
{
  driver_gate gate(k_instant);
  driver_gate::exclusive_call const first(gate);
  driver_gate::exclusive_call const second(gate);
  SUCCEED() << "the wait has ended";
}

TEST(DriverGate, SharedCallGoesOnThoughAnExclusiveOneLasts)
{
  driver_gate gate(k_instant, k_instant);
  driver_gate::exclusive_call const exclusive(gate);
  driver_gate::shared_call const shared(gate);
  SUCCEED() << "the wait has ended";
}

TEST(DriverGate, SharedCallPausesForAnExclusiveOneThatWaitsForLong)
{
  driver_gate gate(k_instant, k_hour);
  ending_exclusive_call exclusive(gate);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  driver_gate::shared_call const shared(gate);
  EXPECT_TRUE(exclusive.has_ended());
}

TEST(DriverGate, ExclusiveCallWaitsUntilSharedOnesEnd)
{
  driver_gate gate(k_hour);
  ending_shared_call first(gate);
  ending_shared_call second(gate);
  driver_gate::exclusive_call const exclusive(gate);
  EXPECT_TRUE(first.has_ended() && second.has_ended());
}

TEST(DriverGate, ExclusiveCallGoesOnThoughASharedOneLasts)
{
  driver_gate gate(k_instant);
  driver_gate::shared_call const shared(gate);
  driver_gate::exclusive_call const exclusive(gate);
  SUCCEED() << "the wait has ended";
}

TEST(DriverGate, BlockingCallWaitsUntilAnExclusiveOneEnds)
{
  driver_gate gate(k_hour);
  ending_exclusive_call exclusive(gate);
  driver_gate::blocking_call const blocking(gate);
  EXPECT_TRUE(exclusive.has_ended());
}

TEST(DriverGate, ExclusiveCallWaitsUntilBlockingOnesEnd)
{
  driver_gate gate(k_hour);
  ending_blocking_call blocking(gate);
  driver_gate::exclusive_call const exclusive(gate);
  EXPECT_TRUE(blocking.has_ended());
}

TEST(DriverGate, SharedCallGoesOnWhileAnExclusiveOneWaitsForABlockingOne)
{
  driver_gate gate(k_hour, k_hour);
  std::optional<driver_gate::blocking_call> blocking(std::in_place, gate);
  std::atomic<bool> has_begun = false;
  std::jthread const loading([&] {
    has_begun = true;
    driver_gate::exclusive_call const exclusive(gate);
  });
  while (!has_begun) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  {
    driver_gate::shared_call const shared(gate);
  }
  blocking.reset();
  SUCCEED() << "the shared call did not wait";
}

TEST(DriverGate, SharedCallsDoNotWaitForEachOther)
{
  driver_gate gate(k_hour, k_hour);
  driver_gate::shared_call const first(gate);
  driver_gate::shared_call const second(gate);
  driver_gate::blocking_call const third(gate);
  SUCCEED() << "there was no wait";
}

TEST(DriverGate, CallsDoNotWaitForThoseThatHaveEnded)
{
  driver_gate gate(k_hour, k_hour);
  {
    driver_gate::exclusive_call const exclusive(gate);
  }
  {
    driver_gate::shared_call const shared(gate);
  }
  driver_gate::exclusive_call const exclusive(gate);
  SUCCEED() << "there was no wait";
}

TEST(DriverGate, IsOneForTheProcess)
{
  EXPECT_EQ(&driver_gate::of_process(), &driver_gate::of_process());
}

// The current CUDA context before, during and after a call, with a driver that only counts.

namespace {

int marks[2];
auto* const k_our_context = reinterpret_cast<CUcontext>(&marks[0]);
auto* const k_other_context = reinterpret_cast<CUcontext>(&marks[1]);

constexpr auto k_replace = context_guard::none_before::is_replaced;

CUcontext current_context = nullptr;
CUresult reply_to_get = CUDA_SUCCESS;
CUresult reply_to_set = CUDA_SUCCESS;
int set_count = 0;

CUresult get_current(CUcontext* context)
{
  if (reply_to_get == CUDA_SUCCESS) *context = current_context;
  return reply_to_get;
}

CUresult set_current(CUcontext context)
{
  ++set_count;
  if (reply_to_set == CUDA_SUCCESS) current_context = context;
  return reply_to_set;
}

CUresult describe(CUresult /*code*/, char const** text)
{
  *text = "the reason";
  return CUDA_SUCCESS;
}

class ContextGuard : public testing::Test {
 protected:
  void SetUp() override
  {
    current_context = nullptr;
    reply_to_get = reply_to_set = CUDA_SUCCESS;
    set_count = 0;
    api_.context_get_current = get_current;
    api_.context_set_current = set_current;
    api_.get_error_name = describe;
    api_.get_error_string = describe;
  }

  detail::driver api_{};
};

}  // namespace

TEST_F(ContextGuard, RestoresAnotherContext)
{
  current_context = k_other_context;
  {
    context_guard const guard(api_, k_our_context, k_replace);
    EXPECT_TRUE(guard);
    EXPECT_EQ(current_context, k_our_context);
  }
  EXPECT_EQ(current_context, k_other_context);
}

TEST_F(ContextGuard, RestoresAfterAnException)
{
  current_context = k_other_context;
  try {
    context_guard const guard(api_, k_our_context, k_replace, "the GPU");
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(current_context, k_other_context);
}

TEST_F(ContextGuard, SetsNothingWhereTheContextIsCurrent)
{
  current_context = k_our_context;
  {
    context_guard const guard(api_, k_our_context, k_replace);
    EXPECT_TRUE(guard);
  }
  EXPECT_EQ(current_context, k_our_context);
  EXPECT_EQ(set_count, 0);
}

TEST_F(ContextGuard, LeavesTheContextToAThreadWithoutOne)
{
  {
    context_guard const guard(api_, k_our_context, k_replace);
    EXPECT_TRUE(guard);
  }
  EXPECT_EQ(current_context, k_our_context);
}

TEST_F(ContextGuard, LeavesAThreadWithoutOneAsItWasOnRequest)
{
  {
    context_guard const guard(api_, k_our_context, context_guard::none_before::is_restored);
    EXPECT_EQ(current_context, k_our_context);
  }
  EXPECT_EQ(current_context, nullptr);
}

TEST_F(ContextGuard, SetsTheContextWhereTheCurrentOneWasDestroyed)
{
  current_context = k_other_context;
  reply_to_get = CUDA_ERROR_CONTEXT_IS_DESTROYED;
  {
    context_guard const guard(api_, k_our_context, k_replace);
    EXPECT_TRUE(guard);
  }
  EXPECT_EQ(current_context, k_our_context);
}

TEST_F(ContextGuard, NestsWithOneSwitch)
{
  current_context = k_other_context;
  {
    context_guard const outer(api_, k_our_context, k_replace);
    context_guard const inner(api_, k_our_context, k_replace);
  }
  EXPECT_EQ(current_context, k_other_context);
  EXPECT_EQ(set_count, 2);
}

TEST_F(ContextGuard, TellsThatTheDriverRefuses)
{
  current_context = k_other_context;
  reply_to_get = reply_to_set = CUDA_ERROR_DEINITIALIZED;  // at the end of the process
  EXPECT_FALSE(context_guard(api_, k_our_context, k_replace));
  reply_to_get = CUDA_SUCCESS;
  reply_to_set = CUDA_ERROR_CONTEXT_IS_DESTROYED;
  EXPECT_FALSE(context_guard(api_, k_our_context, k_replace));
  expect_error<device_error>(
      [&] { context_guard const guard(api_, k_our_context, k_replace, "the GPU"); },
      "entering the GPU failed: the reason");
  EXPECT_EQ(current_context, k_other_context);
}

// What the driver states of an address, with a driver that states what the test says.

namespace {

struct driver_reply {
  CUresult code = CUDA_SUCCESS;
  unsigned type = 0;
  unsigned is_managed = 0;
  int ordinal = 0;
};
driver_reply reply_to_query;

CUresult query_attributes(unsigned count, CUpointer_attribute* names, void** values,
                          CUdeviceptr /*address*/)
{
  for (unsigned i = 0; i < count; ++i) {
    if (names[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
      *static_cast<unsigned*>(values[i]) = reply_to_query.type;
    if (names[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED)
      *static_cast<unsigned*>(values[i]) = reply_to_query.is_managed;
    if (names[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
      *static_cast<int*>(values[i]) = reply_to_query.ordinal;
  }
  return reply_to_query.code;
}

CUresult describe_code(CUresult /*code*/, char const** text)
{
  *text = "the reason";
  return CUDA_SUCCESS;
}

detail::gpu_address locate(driver_reply const& reply)
{
  reply_to_query = reply;
  detail::driver api{};
  api.pointer_get_attributes = query_attributes;
  api.get_error_name = describe_code;
  api.get_error_string = describe_code;
  return detail::locate(api, 0x1000);
}

}  // namespace

TEST(GpuAddress, HasTheOrdinalOfItsGpu)
{
  auto const address = locate({.type = CU_MEMORYTYPE_DEVICE, .ordinal = 3});
  EXPECT_EQ(address.ordinal, 3);
  EXPECT_EQ(address.kind, gpu_memory_kind::device);
}

TEST(GpuAddress, IsOfManagedMemoryWhereverItIs)
{
  for (auto const type : {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST})
    EXPECT_EQ(locate({.type = type, .is_managed = 1, .ordinal = 1}).kind, gpu_memory_kind::managed);
}

TEST(GpuAddress, MayBeOfTheHost)
{
  EXPECT_EQ(locate({.type = CU_MEMORYTYPE_HOST}).kind, gpu_memory_kind::host);
}

TEST(GpuAddress, OfOtherMemoryIsRefused)
{
  driver_reply const unknown{.code = CUDA_ERROR_INVALID_VALUE, .type = CU_MEMORYTYPE_DEVICE};
  driver_reply const without_gpu{.type = CU_MEMORYTYPE_DEVICE, .ordinal = -2};  // CU_DEVICE_INVALID
  for (auto const& reply : {driver_reply{}, unknown, without_gpu})
    expect_error<usage_error>([&] { (void)locate(reply); },
                              "the address 0x1000 is not in memory of CUDA");
}

TEST(GpuAddress, OfAFailedDriverIsADeviceError)
{
  expect_error<device_error>([] { (void)locate({.code = CUDA_ERROR_ILLEGAL_ADDRESS}); },
                             "locating the address 0x1000 failed: the reason");
}
