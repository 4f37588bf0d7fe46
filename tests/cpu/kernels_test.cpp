// SPDX-License-Identifier: Apache-2.0
// The reference device: correct kernels, and faulty kernels, which end in errors.
#include "kernels_suite.hpp"

#include "arithmetic_suite.hpp"
#include "device_suite.hpp"
#include "elementwise_suite.hpp"
#include "interface_suite.hpp"
#include "plan_refusals_suite.hpp"
#include "plan_suite.hpp"

#include <gmock/gmock.h>

#include "device/backends.hpp"
#include "expect_error.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Cpu, DeviceApi, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Kernels, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Elementwise, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Arithmetic, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Interface, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Plans, testing::Values("cpu"));

namespace {

class WrongKernels : public testing::Test {
 protected:
  [[nodiscard]] static loaded_module load(device const& device)
  {
    auto const input = fatbin::read(places::corpus("cpu_kernels.fatbin"));
    return device.load(linker().link(
        {input}, {.target = "sm_90", .mode = link_mode::ptx, .emit = image_kind::ptx_set}));
  }

  /// Runs the kernel `name` and expects a failure whose message contains each of `parts`.
  template <typename... Arguments>
  void expect_fault(char const* name, unsigned block, std::vector<std::string> const& parts,
                    Arguments... arguments)
  {
    auto const loaded = load(*device_);
    auto const kernel = loaded.kernel<void(Arguments...)>(name);
    auto s = device_->create_stream();
    try {
      kernel.launch(s, {.grid = 2, .block = block, .shared_bytes = 0}, arguments...);
      ADD_FAILURE() << name << " ended well";
    } catch (device_error const& failed) {
      for (auto const& part : parts) EXPECT_THAT(failed.what(), testing::HasSubstr(part));
      EXPECT_THAT(failed.what(), testing::HasSubstr(std::string("kernel ") + name + ", block ("));
      EXPECT_THAT(failed.what(), testing::HasSubstr("cpu_kernels.fatbin:"));
      code_ = failed.details().code.text();
    }
  }

  std::shared_ptr<device> device_ =
      open_device("cpu", {.instruction_budget = 100'000, .check_races = false});
  device_buffer<unsigned> buffer_ = device_->allocate<unsigned>(64);
  std::string code_;
};

}  // namespace

TEST_F(WrongKernels, OutOfBoundsNamesThreadInstructionAndAddress)
{
  auto* const base = reinterpret_cast<char*>(buffer_.data());
  expect_fault("write_at", 1,
               {"thread (0,0,0): st.", "writes 4 bytes at 0x7",
                "0 bytes past the end of an allocation of 256 bytes"},
               base, 256U);
  EXPECT_EQ(code_, "illegal-address");
  expect_fault("write_at", 1, {"in no allocation"}, reinterpret_cast<char*>(0x1234567800), 0U);
  expect_fault("write_at", 1, {"a null pointer"}, static_cast<char*>(nullptr), 8U);
  expect_fault("write_at", 1, {"bytes past the end"}, base, 0xFFFFFFF0U);
  expect_fault("write_at", 1, {"in no allocation of the device; it may be an address of the host"},
               base + (std::size_t{1} << 36U), 0U);
}

TEST_F(WrongKernels, MisalignedSaysSo)
{
  expect_fault("write_at", 1, {"writes 4 bytes at 0x7", "not aligned to its size"},
               reinterpret_cast<char*>(buffer_.data()), 2U);
}

TEST_F(WrongKernels, EndlessIsStoppedByTheBudget)
{
  buffer_.fill(std::byte{0});
  expect_fault("endless", 64, {"is still running after 100000 instructions"}, buffer_.data());
  EXPECT_EQ(code_, "endless-kernel");
}

TEST_F(WrongKernels, BarrierThatOthersNeverReachIsStopped)
{
  expect_fault("half_a_barrier", 64, {"is still running"});
}

TEST_F(WrongKernels, TrapIsNamed)
{
  expect_fault("stop_itself", 1, {"the kernel executed trap"});
  EXPECT_EQ(code_, "trap");
}

TEST_F(WrongKernels, AssertSaysWhatFailedAndWhere)
{
  testing::internal::CaptureStderr();
  expect_fault("say", 2, {"kernels.cu:", "say(unsigned int): assertion 'value != 13' failed"}, 13U);
  (void)testing::internal::GetCapturedStderr();
}

TEST_F(WrongKernels, PrintfFormatsAsC)
{
  auto const loaded = load(*device_);
  auto s = device_->create_stream();
  testing::internal::CaptureStderr();
  loaded.kernel<void(unsigned)>("say").launch(s, {.grid = 1, .block = 2, .shared_bytes = 0}, 5U);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "thread 0  2.50|-3  |z%|123456789\nthread 1  2.50|-3  |z%|123456789\n");
}

TEST_F(WrongKernels, WriteRacesAreFoundOnRequest)
{
  auto const loaded = load(*device_);
  auto s = device_->create_stream();
  loaded.kernel<void(unsigned*)>("write_one_address")
      .launch(s, {.grid = 1, .block = 64, .shared_bytes = 0}, buffer_.data());

  device_ = open_device("cpu", {.instruction_budget = 0, .check_races = true});
  buffer_ = device_->allocate<unsigned>(64);
  expect_fault("write_one_address", 64, {"writes what thread ", "wrote, without synchronisation"},
               buffer_.data());
  EXPECT_EQ(code_, "write-race");
  auto const module = load(*device_);
  auto const own_stream = device_->create_stream();
  module.kernel<void(unsigned*)>("write_in_order")
      .launch(own_stream, {.grid = 1, .block = 64, .shared_bytes = 0}, buffer_.data());
}

TEST_F(WrongKernels, LaunchesThatDoNotFitAreRefused)
{
  auto const loaded = load(*device_);
  auto s = device_->create_stream();
  expect_error<device_error>(
      [&] {
        loaded.kernel<void(unsigned)>("say").launch(
            s, {.grid = 1, .block = 2000, .shared_bytes = 0}, 1U);
      },
      "the block must have 1 to 1024 threads");
  expect_error<file_error>([&] { (void)loaded.kernel<void()>("nope"); }, "there is no kernel nope");
}

TEST(CpuDevice, RefusesACubin)
{
  linked_image cubin;
  cubin.bytes.resize(100);
  expect_error<device_error>([&] { (void)open_device("cpu")->load(cubin); }, "it is a cubin");
}

/// Below device_buffer, which checks its own bounds first.
TEST(CpuDevice, ChecksCopiesAsWell)
{
  auto const backend = detail::open_cpu(target("sm_90"), {});
  auto const address = backend->allocate(16);
  std::vector<std::byte> bytes(20);
  expect_error<device_error>([&] { backend->copy_out(bytes, address); }, "20 bytes at");
  backend->release(address);
}

}  // namespace fatlink
