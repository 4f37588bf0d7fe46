// SPDX-License-Identifier: Apache-2.0
// Limits of launches that a GPU enforces: those that a kernel states, and the shared memory and the
// constants that it has.
#include "interpreter/machine.hpp"

#include <system_error>
#include <thread>

#include "environment.hpp"
#include "ptx_fixture.hpp"

namespace fatlink::interpreter {
namespace {

/// The kernel k, which does nothing, with `directives`.
std::string kernel_with(std::string const& directives)
{
  return k_header + std::string(".visible .entry k()\n") + directives + "\n{ ret; }\n";
}

class Launches : public testing::Test {
 protected:
  void launch_block(std::string const& text, dimensions const& block, std::uint32_t shared = 0)
  {
    program program(memory_, std::array{module_text{text, "a.ptx"}});
    launch(program, program.find("k"), {.block = block, .shared_bytes = shared}, {});
  }

  void expect_failure(error_kind kind, std::string const& message, std::string const& text,
                      dimensions const& block = {}, std::uint32_t shared = 0)
  {
    try {
      launch_block(text, block, shared);
      ADD_FAILURE() << "no failure; expected " << message;
    } catch (code_error const& failed) {
      EXPECT_EQ(static_cast<int>(failed.kind()), static_cast<int>(kind)) << failed.what();
      EXPECT_THAT(failed.what(), testing::HasSubstr(message));
    }
  }

  std::shared_ptr<memory> memory_ = std::make_shared<memory>();
};

}  // namespace

TEST_F(Launches, RunOnTheCallingThreadWhereNoOtherCanBeStarted)
{
  fixtures::no_more_threads const refusal;
  ASSERT_THROW(std::thread([] {}).join(), std::system_error);
  program counting(memory_, std::array{module_text{
                                k_header + std::string(".visible .entry k(.param .u64 out)\n{\n"
                                                       ".reg .b64 %a; ld.param.u64 %a, [out];\n"
                                                       "red.global.add.u32 [%a], 1; ret;\n}\n"),
                                "a.ptx"}});
  auto const count = memory_->allocate(4);
  std::memset(count.data, 0, 4);
  auto const address = count.base;
  std::vector<std::span<std::byte const>> const arguments{std::as_bytes(std::span(&address, 1))};
  launch(counting, counting.find("k"), {.grid = {1000, 1, 1}, .block = {1, 1, 1}}, arguments);
  std::uint32_t blocks = 0;
  std::memcpy(&blocks, count.data, 4);
  EXPECT_EQ(blocks, 1000U);
}

TEST_F(Launches, TakeAtMostTheThreadsThatTheKernelStates)
{
  auto const bounded = kernel_with(".maxntid 128, 2, 1\n.minnctapersm 2");
  EXPECT_NO_THROW(launch_block(bounded, {256, 1, 1}));
  expect_failure(error_kind::launch,
                 "kernel k: the block has 257 threads; __launch_bounds__ (.maxntid) allows at "
                 "most 256",
                 bounded, {257, 1, 1});
}

TEST_F(Launches, TakeExactlyTheBlockThatTheKernelRequires)
{
  auto const required = kernel_with(".reqntid 16, 4");
  EXPECT_NO_THROW(launch_block(required, {16, 4, 1}));
  expect_failure(error_kind::launch,
                 "kernel k: the block is 64 x 1 x 1 threads; .reqntid requires 16 x 4 x 1",
                 required, {64, 1, 1});
}

TEST_F(Launches, OfClustersHaveGridsOfWholeClusters)
{
  EXPECT_NO_THROW(launch_block(kernel_with(".explicitcluster\n.reqnctapercluster 1, 1, 1"), {}));
  expect_failure(error_kind::launch,
                 "kernel k: the grid of 1 x 1 x 1 blocks is not a multiple of its clusters, 2 x 1 "
                 "x 1 blocks (.reqnctapercluster, __cluster_dims__)",
                 kernel_with(".explicitcluster\n.reqnctapercluster 2, 1, 1"));
}

TEST_F(Launches, OfClustersOfMoreThanEightBlocksAreRefused)
{
  expect_failure(error_kind::launch,
                 "kernel k: its clusters have 3 x 3 x 1 blocks (.reqnctapercluster, "
                 "__cluster_dims__); the maximum is 8",
                 kernel_with(".explicitcluster\n.reqnctapercluster 3, 3, 1"));
}

TEST_F(Launches, OfMoreThreadsThanTheRaceCheckNamesAreRefusedWithIt)
{
  program program(memory_, std::array{module_text{kernel_with(""), "a.ptx"}});
  launch_options const options{
      .grid = {0x7FFFFFFF, 2, 1}, .block = {32, 1, 1}, .check_races = true};
  try {
    launch(program, program.find("k"), options, {});
    ADD_FAILURE() << "no failure";
  } catch (code_error const& failed) {
    EXPECT_STREQ(failed.what(),
                 "kernel k: more threads than the race check can track: at most 68719476735");
  }
}

TEST_F(Launches, CountStaticSharedMemoryAsDynamic)
{
  auto const text = k_header + std::string(
                                   ".shared .b8 a[40000];\n.visible .entry k()\n"
                                   "{ .reg .b32 %r; mov.u32 %r, a; ret; }\n");
  constexpr std::uint32_t k_static = 40064;  // rounded up to 128
  EXPECT_NO_THROW(launch_block(text, {}, k_max_dynamic_shared - k_static));
  expect_failure(error_kind::launch, "bytes of dynamic shared memory are more than 192384", text,
                 {}, k_max_dynamic_shared - k_static + 1);
}

TEST_F(Launches, HaveAtMost48KiBOfStaticSharedMemory)
{
  auto const text = [](char const* size) {
    return k_header + std::string(".shared .b8 a[40000];\n.func f() { .shared .b8 b[") + size +
           "]; ret; }\n.visible .entry k()\n{ .reg .b32 %r; mov.u32 %r, a; call f; ret; }\n";
  };
  EXPECT_NO_THROW(launch_block(text("9152"), {}));
  expect_failure(error_kind::invalid,
                 "a kernel has more than 48 KiB of static shared memory; use dynamic shared memory",
                 text("9153"));
}

TEST_F(Launches, HaveTheSharedMemoryOfTheirKernelOnly)
{
  auto const text = k_header + std::string(
                                   ".shared .b8 a[40000];\n.shared .b8 b[40000];\n"
                                   ".func f() { .shared .b32 c[4]; ret; }\n"
                                   ".visible .entry k()\n{ .reg .b32 %r; mov.u32 %r, a; "
                                   "call f; ret; }\n"
                                   ".visible .entry other()\n{ .shared .b8 d[30000]; "
                                   ".reg .b32 %r; mov.u32 %r, d; ret; }\n");
  program program(memory_, std::array{module_text{text, "a.ptx"}});
  EXPECT_EQ(program.find("k").shared_bytes, 40064U);
  EXPECT_EQ(program.find("other").shared_bytes, 30080U);
}

TEST_F(Launches, HaveAtMost64KiBOfConstants)
{
  auto const text = [](char const* size) {
    return k_header + std::string(".const .b8 a[65000];\n.visible .const .b8 b[") + size +
           "];\n.visible .entry k() { ret; }\n";
  };
  EXPECT_NO_THROW(launch_block(text("536"), {}));
  expect_failure(error_kind::invalid,
                 "a.ptx:5: b: the .const variables of a module have more than 64 KiB", text("537"));
}

}  // namespace fatlink::interpreter
