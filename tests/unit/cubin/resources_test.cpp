// SPDX-License-Identifier: Apache-2.0
// Registers, memory and calls of kernels and functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cubin/cubin.hpp"
#include "cubin/functions.hpp"
#include "cubin_bytes.hpp"
#include "expect_error.hpp"
#include "fatlink/resources.hpp"
#include "fixtures.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using namespace cubin_bytes;

namespace {

/// By kernel, for the entry of `name` for `link_target`.
std::map<std::string, kernel_resources> resources_of(std::string const& name, target link_target)
{
  std::map<std::string, kernel_resources> kernels;
  for (auto const& kernel : resources(cubin_of(name, link_target))) kernels[kernel.name] = kernel;
  return kernels;
}

/// An instruction with the operation and width.
byte_buffer instruction(std::uint16_t operation, unsigned width)
{
  byte_buffer code(16);
  put(code, 0, operation);
  put(code, 9, static_cast<std::uint8_t>(width << 1U));
  return code;
}

}  // namespace

TEST(FunctionCalls, OfALibraryLeadFromItsKernelToTheHook)
{
  auto const functions =
      read_function_calls(cubin_of("library_sass.fatbin", "sm_90"), {"library_sass.fatbin"});
  auto const kernel = std::ranges::find_if(functions, &cubin_function::is_kernel);
  ASSERT_NE(kernel, functions.end());
  EXPECT_GT(kernel->registers, 0U);
  EXPECT_FALSE(kernel->is_private);
  ASSERT_EQ(kernel->callees.size(), 1U);
  auto const& hook = functions[kernel->callees.front()];
  EXPECT_EQ(hook.name, "user_transform");
  EXPECT_FALSE(hook.is_kernel);
  EXPECT_EQ(hook.registers, 0U);  // declared only
}

// What `ptxas -v` printed for the fixture: see make_fixtures.
TEST(Resources, AreThoseThatPtxasPrints)
{
  struct expectation {
    target link_target;
    std::uint32_t sharing_registers;
    std::uint64_t spill_frame, spill_stores, spill_loads;
  };
  for (auto const& [target, registers, frame, stores, loads] :
       {expectation{"sm_80", 10, 200, 196, 196},
        {"sm_90", 12, 208, 208, 224},
        {"sm_100", 12, 208, 208, 224}}) {
    auto const kernels = resources_of("resources_whole.fatbin", target);
    ASSERT_EQ(kernels.size(), 5U);
    auto const& spilling = kernels.at("spilling");
    EXPECT_EQ(spilling.registers, 24U);
    EXPECT_EQ(spilling.max_registers, 24U);
    EXPECT_EQ(spilling.frame_bytes, frame);
    EXPECT_EQ(spilling.stack_bytes, frame);
    EXPECT_EQ(spilling.local_store_bytes, stores);
    EXPECT_EQ(spilling.local_load_bytes, loads);
    EXPECT_EQ(kernels.at("sharing").registers, registers);
    EXPECT_EQ(kernels.at("sharing").static_shared_bytes, 128U);
    EXPECT_EQ(kernels.at("with_array").stack_bytes, 128U);
    EXPECT_EQ(kernels.at("plain").registers, 8U);
    EXPECT_EQ(kernels.at("plain").local_store_bytes, 0U);
    EXPECT_EQ(kernels.at("plain").static_shared_bytes, 0U);
  }
}

TEST(Resources, CountParametersAndConstantsOfTheKernel)
{
  auto const kernels = resources_of("resources_whole.fatbin", "sm_80");
  EXPECT_EQ(kernels.at("plain").parameter_bytes, 8U);
  EXPECT_EQ(kernels.at("plain").constant_bytes, 360U);
  EXPECT_EQ(kernels.at("sharing").parameter_bytes, 12U);
  EXPECT_EQ(kernels.at("sharing").constant_bytes, 364U);
}

TEST(Resources, StateTheLaunchBoundsOfTheKernel)
{
  EXPECT_EQ(resources_of("resources_whole.fatbin", "sm_90").at("plain").max_block_threads, 128U);
  auto const kernels = resources_of("types_sass.fatbin", "sm_90a");
  EXPECT_THAT(kernels.at("fixed_block").required_block, testing::ElementsAre(32, 2, 1));
  EXPECT_EQ(kernels.at("fixed_block").max_registers, 255U);
}

TEST(Resources, OfALocalArrayAreItsLoadsAndStores)
{
  auto const kernel = resources_of("resources_whole.fatbin", "sm_90").at("with_array");
  EXPECT_EQ(kernel.local_store_bytes, 128U);
  EXPECT_EQ(kernel.local_load_bytes, 4U);
}

TEST(Resources, OfALinkedCubinHaveNoStackWhereTheLinkerCannotTell)
{
  auto const kernels = resources_of("resources_linked.fatbin", "sm_90");
  EXPECT_FALSE(kernels.at("recursing").stack_bytes);
  EXPECT_EQ(kernels.at("with_array").stack_bytes, 136U);
  EXPECT_EQ(kernels.at("with_array").frame_bytes, 0U);
  EXPECT_EQ(kernels.at("sharing").static_shared_bytes, 128U);
}

TEST(Resources, OfARelocatableCubinHaveNoStackYet)
{
  auto const kernels = resources_of("resources_part.fatbin", "sm_90");
  auto const& spilling = kernels.at("spilling");
  EXPECT_FALSE(spilling.stack_bytes);
  EXPECT_EQ(spilling.frame_bytes, 208U);
  EXPECT_EQ(spilling.local_store_bytes, 208U);
  EXPECT_EQ(kernels.at("sharing").static_shared_bytes, 128U);
}

TEST(Resources, OfALinkedImageAreThoseOfItsCubin)
{
  linked_image image{.bytes = cubin_of("resources_whole.fatbin", "sm_80")};
  EXPECT_EQ(resources(image), resources(image.bytes));
  image.kind = image_kind::ptx;
  expect_error<usage_error>(
      [&] { (void)resources(image); },
      "resources: the linked image is ptx, and only a cubin states resources");
}

TEST(Resources, RefuseWhatIsNoCubinAndEveryTruncation)
{
  auto const good = cubin_of("resources_part.fatbin", "sm_90");
  for (std::size_t size = 0; size < good.size(); size += size < 4096 ? 1 : 61)
    EXPECT_THROW((void)resources(bytes_view(good).first(size)), format_error) << "kept " << size;
  expect_error<format_error>([] { (void)resources({}, "x.cubin"); }, "x.cubin: damaged cubin: ");
}

TEST(Resources, RefuseAttributesThatAreTooShort)
{
  auto bytes = cubin_of("resources_part.fatbin", "sm_90");
  auto const attribute = find(bytes, ".nv.info", std::string("\x04\x2f\x08\0", 4));
  put(bytes, attribute + 2, std::uint16_t{4});
  expect_error<format_error>([&] { (void)resources(bytes); }, "an attribute");
}

TEST(LocalAccesses, AreCountedByWidth)
{
  for (auto const& [width, bytes] :
       {std::pair(0U, 1U), {1U, 1U}, {2U, 2U}, {3U, 2U}, {4U, 4U}, {5U, 8U}, {6U, 16U}}) {
    EXPECT_EQ(count_local_accesses(instruction(0x387, width), 90)->stores, bytes);
    EXPECT_EQ(count_local_accesses(instruction(0x983, width), 75)->loads, bytes);
    EXPECT_EQ(count_local_accesses(instruction(0x983, width), 75)->stores, 0U);
    EXPECT_EQ(count_local_accesses(instruction(0x984, width), 121)->loads, 0U);
  }
}

TEST(LocalAccesses, AreUnknownForOtherArchitecturesAndWidths)
{
  EXPECT_FALSE(count_local_accesses(instruction(0x387, 4), 70));
  EXPECT_FALSE(count_local_accesses(instruction(0x387, 4), 122));
  EXPECT_FALSE(count_local_accesses(instruction(0x387, 7), 90));
}

TEST(LocalAccesses, IgnoreAPartOfAnInstruction)
{
  auto code = instruction(0x387, 4);
  code.resize(15);
  EXPECT_EQ(count_local_accesses(code, 90)->stores, 0U);
}
