// SPDX-License-Identifier: Apache-2.0
// The C interface in several threads, in a child process of fork, and without memory.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "c_plan_fixture.hpp"
#include "failing_allocation.hpp"
#include "fatlink/prepare.hpp"
#include "sanitizers.hpp"

using fixtures::c_buffer;
using fixtures::c_kernel;
using fixtures::c_stream;
using fixtures::fail;
using fixtures::result_of;
using fixtures::succeed;

namespace {

class CThreads : public fixtures::c_plans {
 protected:
  /// Links, loads and launches with the objects that all threads share.
  void work() const
  {
    auto const kernel = find_kernel();
    auto const buffer = allocate(4);
    c_stream stream;
    succeed(fatlink_stream_create(device_.get(), result_of(stream)));
    auto address = fatlink_buffer_address(buffer.get());
    void* const argument = &address;
    fatlink_launch_shape shape = {};
    shape.size = sizeof shape;
    auto* const handle = fatlink_stream_handle(stream.get());
    succeed(fatlink_kernel_launch(kernel.get(), handle, &shape, &argument, 1));
    succeed(fatlink_synchronize(device_.get(), handle));
    int value = 0;
    succeed(fatlink_buffer_read_now(buffer.get(), 0, &value, sizeof value));
    EXPECT_EQ(value, 42);
  }

  /// Runs a plan that all threads share on memory of the calling one.
  void run(fatlink_plan const* plan) const
  {
    float sum = 0;
    c_buffer out;
    succeed(fatlink_buffer_map_host(device_.get(), &sum, sizeof sum, 0, result_of(out)));
    auto given = arguments();
    given[1].address = fatlink_buffer_address(out.get());
    succeed(fatlink_plan_run(plan, nullptr, given.data(), given.size(), 0, 0));
    EXPECT_EQ(sum, k_sum);
  }

  /// Calls work() and run() in a child process, which ends if it waits for ever.
  void use_in_child(fatlink_plan const* plan) const
  {
    auto const child = ::fork();
    if (child == 0) {
      ::alarm(60);
      run(plan);
      work();
      ::_exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
};

}  // namespace

TEST_F(CThreads, LinkAndLaunchAtOnce)
{
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([this] {
      for (int repetition = 0; repetition < 5; ++repetition) work();
    });
}

TEST_F(CThreads, RunOnePlanAtOnce)
{
  auto const plan = prepare();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i) threads.emplace_back([&] { run(plan.get()); });
}

TEST_F(CThreads, ChildOfForkUsesWhatItInherits)
{
  work();
  use_in_child(prepare().get());
}

TEST_F(CThreads, ChildrenOfForkUseWhatOtherThreadsUse)
{
  if (fixtures::k_has_thread_sanitizer)
    GTEST_SKIP() << "the thread sanitizer ends a child that starts a thread";
  if (fixtures::k_has_sanitizer)
    GTEST_SKIP() << "a lock of the address sanitizer's allocator that another thread holds stays "
                    "locked in the child (GCC 12, 13)";
  auto const plan = prepare();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&](std::stop_token const& stop) {
      while (!stop.stop_requested()) {
        run(plan.get());
        work();
      }
    });
  for (int i = 0; i < 50 && !HasFatalFailure(); ++i) use_in_child(plan.get());
}

TEST_F(CThreads, MissingMemoryIsAnError)
{
  for (std::size_t successful = 0; successful < 3; ++successful) {
    fatlink_error* error = nullptr;
    fatlink_input* input = nullptr;
    {
      fixtures::failing_allocation const failure(successful);
      error = fatlink_input_from_bytes(fixtures::k_store_ptx.data(), fixtures::k_store_ptx.size(),
                                       "store.ptx", &input);
    }
    fail(error, FATLINK_ERROR_MEMORY, "the host has no memory left");
    EXPECT_EQ(input, nullptr);
  }
}

TEST_F(CThreads, PlansAllocateNoMoreThanInCpp)
{
  using namespace fatlink;
  count_ = 32;  // one block, which the calling thread executes
  auto const device = open_device("cpu");
  linker tool;
  auto const prepared = fatlink::prepare(*device, tool,
                                         {.library = places::corpus("weighted_sum.fatbin"),
                                          .transforms = {places::corpus("scaled_add.fatbin")},
                                          .mode = link_mode::ptx});
  auto const in = device->map_host_memory(values_.data(), values_.size());
  auto const out = device->map_host_memory(&sum_, 1);
  auto const in_cpp = [&] {
    fixtures::allocation_count const count;
    prepared.run(stream_view(nullptr), {{"in", in}, {"out", out}, {"n", count_}});
    return count.allocations();
  };
  auto const plan = prepare();
  auto const given = arguments();
  auto const in_c = [&] {
    fixtures::allocation_count const count;
    succeed(fatlink_plan_run(plan.get(), nullptr, given.data(), given.size(), 0, 0));
    return count.allocations();
  };
  // The first call allocates what later ones use again.
  auto const least_of = [](auto const& call) {
    auto least = call();
    for (int i = 0; i < 10; ++i) least = std::min(least, call());
    return least;
  };
  EXPECT_LE(least_of(in_c), least_of(in_cpp));
}
