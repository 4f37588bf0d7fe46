// SPDX-License-Identifier: Apache-2.0
// The current CUDA context before, during and after a call, with a driver that only counts.
#include "device/cuda_driver.hpp"

#include <gtest/gtest.h>

#include "expect_error.hpp"

using namespace fatlink;
using detail::context_guard;

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
