// SPDX-License-Identifier: Apache-2.0
// Kernels, their launches, and memory of the host on the reference device: what is refused.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "asynchronous_device.hpp"
#include "expect_error.hpp"
#include "fatlink/kernel.hpp"
#include "reference_device_fixture.hpp"

using namespace fatlink;

namespace {

constexpr std::string_view k_printing_ptx = R"(.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.visible .entry say()
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  mov.u64 %rd1, text;
  cvta.global.u64 %rd2, %rd1;
  {
  .param .b64 param0;
  st.param.b64 [param0+0], %rd2;
  .param .b64 param1;
  st.param.b64 [param1+0], 0;
  .param .b32 retval0;
  call.uni (retval0), vprintf, (param0, param1);
  ld.param.b32 %r1, [retval0+0];
  }
  ret;
}
)";

class KernelMisuse : public fixtures::reference_device_test {};

}  // namespace

TEST_F(KernelMisuse, RefusesLaunchesThatNoDeviceTakes)
{
  auto const buffer = device_->allocate<int>(1);
  auto const code = device_->load(image()).kernel<void(int*)>("store");
  auto const s = device_->create_stream();
  constexpr auto k_most = std::numeric_limits<unsigned>::max();
  for (auto const& [grid, block] :
       std::vector<std::pair<extent, extent>>{{0, 1},
                                              {1, 0},
                                              {{1, 0}, 1},
                                              {{1, 1, 0}, 1},
                                              {1, {1, 0}},
                                              {1, {1, 1, 0}},
                                              {k_most, 1},
                                              {{k_most, k_most, k_most}, 1},
                                              {{1, 65536}, 1},
                                              {1, 1025},
                                              {1, {32, 33}},
                                              {1, {1, 1, 65}},
                                              {1, {k_most, k_most, k_most}}})
    expect_error<device_error>(
        [&, g = grid, b = block] {
          code.launch(s, {g, b, 0}, buffer.data());
        },
        "kernel store");
  expect_error<device_error>(
      [&] {
        code.launch(s, {1, 1, k_most}, buffer.data());
      },
      "dynamic shared memory");
}

TEST_F(KernelMisuse, RefusesABlockOfNoThreadsForElements)
{
  expect_error<usage_error>([&] { (void)elementwise_shape(10, 0); }, "block");
  auto const largest = elementwise_shape(std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(largest.grid.x, 0x7FFFFFFFU);
}

TEST_F(KernelMisuse, PrintsToAStandardErrorWithoutAReaderWithoutEndingTheHost)
{
  auto const child = ::fork();
  if (child == 0) {
    std::array<int, 2> ends{};
    (void)!::pipe(ends.data());
    ::close(ends[0]);
    ::dup2(ends[1], STDERR_FILENO);
    ::signal(SIGPIPE, SIG_DFL);
    auto const reference = open_device("cpu");
    auto s = reference->create_stream();
    reference->load(image(k_printing_ptx)).kernel<void()>("say").launch(s, {});
    s.synchronize();
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFSIGNALED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST_F(KernelMisuse, RefusesTypesOfAnotherSize)
{
  auto const module = device_->load(image());
  expect_error<usage_error>([&] { (void)module.kernel<void(int)>("store"); }, "of 8 bytes");
  expect_error<usage_error>([&] { (void)module.kernel<void()>("store"); }, "none was given");
}

// The host's memory, mapped for kernels of the reference device.

namespace {

/// The kernel test_space(address, out), which writes 1 if `address` is in the global space.
constexpr std::string_view k_space_ptx = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry test_space(.param .u64 address, .param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [address];
  ld.param.u64 %rd2, [out];
  isspacep.global %p1, %rd1;
  selp.u32 %r1, 1, 0, %p1;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

class MapHostMemory : public fixtures::reference_device_test {
 protected:
  /// Writes 42 to `address`.
  void store(device_address address) const
  {
    auto const module = device_->load(image());
    module.kernel<void(std::uint64_t)>("store").launch(stream_view(nullptr), {}, address);
  }
  std::vector<int> values_ = {1, 2, 3, 4};
};

}  // namespace

TEST_F(MapHostMemory, KernelsWriteToTheMemoryItself)
{
  auto const mapped = device_->map_host_memory(values_.data(), values_.size());
  store(mapped.address() + 4);
  EXPECT_EQ(values_, (std::vector<int>{1, 42, 3, 4}));
  EXPECT_EQ(mapped.size(), 4U);
}

TEST_F(MapHostMemory, CopiesAndFillsUseTheMemoryItself)
{
  auto mapped = device_->map_host_memory(values_.data(), values_.size());
  std::vector<int> const source{7, 8};
  mapped.write(source, 2);
  EXPECT_EQ(values_, (std::vector<int>{1, 2, 7, 8}));
  mapped.fill(std::byte{0});
  EXPECT_EQ(values_, std::vector<int>(4, 0));
}

TEST_F(MapHostMemory, AddressesAreEqualModulo512)
{
  std::vector<std::byte> bytes(2048);
  for (auto const offset : {0U, 1U, 4U, 255U, 511U, 512U, 513U}) {
    auto const mapped = device_->map_host_memory(bytes.data() + offset, 16);
    auto const host = reinterpret_cast<std::uintptr_t>(bytes.data() + offset);
    EXPECT_EQ(mapped.address() % 512, host % 512) << offset;
  }
}

TEST_F(MapHostMemory, ReportsAnAccessThatIsMisaligned)
{
  std::vector<std::byte> bytes(64);
  auto const mapped = device_->map_host_memory(bytes.data() + 1, 16);
  expect_error<device_error>([&] { store(mapped.address()); }, "not aligned to its size");
}

TEST_F(MapHostMemory, ReportsAccessesBesideAMapping)
{
  auto const left = device_->map_host_memory(values_.data(), 2);
  auto const right = device_->map_host_memory(values_.data() + 2, 2);
  expect_error<device_error>([&] { store(left.address() + 8); },
                             "0 bytes past the end of mapped memory of the host of 8 bytes");
  expect_error<device_error>([&] { store(right.address() - 4); },
                             "4 bytes before mapped memory of the host of 8 bytes");
  EXPECT_EQ(values_, (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(MapHostMemory, RefusesWritesToReadOnlyMemory)
{
  auto mapped = device_->map_host_memory(values_.data(), values_.size(), host_access::read_only);
  expect_error<device_error>([&] { store(mapped.address()); },
                             "in mapped memory of the host of 16 bytes, which is read-only");
  expect_error<device_error>([&] { mapped.write(std::vector<int>{9}); }, "read-only");
  expect_error<device_error>([&] { mapped.fill(std::byte{9}); }, "read-only");
  auto const other = device_->allocate<int>(4);
  auto const stream = device_->create_stream();
  expect_error<device_error>([&] { device_->copy(mapped, other, 4, stream); }, "read-only");
  EXPECT_EQ(values_, (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(MapHostMemory, ReadsReadOnlyMemory)
{
  auto const mapped =
      device_->map_host_memory(values_.data(), values_.size(), host_access::read_only);
  std::vector<int> copy(4);
  mapped.read(copy);
  EXPECT_EQ(copy, values_);
}

TEST_F(MapHostMemory, IsGlobalMemoryAlsoWhereItIsReadOnly)
{
  int result = 0;
  auto const in = device_->map_host_memory(values_.data(), values_.size(), host_access::read_only);
  auto const out = device_->map_host_memory(&result, 1);
  device_->load(image(k_space_ptx))
      .kernel<void(std::uint64_t, std::uint64_t)>("test_space")
      .launch(stream_view(nullptr), {}, in.address(), out.address());
  EXPECT_EQ(result, 1);
}

TEST_F(MapHostMemory, EndsWithTheBuffer)
{
  device_address address = 0;
  {
    auto const mapped = device_->map_host_memory(values_.data(), values_.size());
    address = mapped.address();
  }
  expect_error<device_error>([&] { store(address); }, "in no allocation");
  EXPECT_EQ(values_.front(), 1);
}

TEST_F(MapHostMemory, TakesNoMemory)
{
  auto const mapped = device_->map_host_memory(static_cast<int*>(nullptr), 0);
  EXPECT_EQ(mapped.size(), 0U);
}

TEST_F(MapHostMemory, RefusesNull)
{
  expect_error<usage_error>([&] { (void)device_->map_host_memory(static_cast<int*>(nullptr), 1); },
                            "the host memory to map is null");
}

TEST_F(MapHostMemory, IsRefusedByAGpu)
{
  device const gpu(std::make_shared<fixtures::asynchronous_device>(device_kind::gpu));
  expect_error<usage_error>([&] { (void)gpu.map_host_memory(values_.data(), 4); },
                            "only the reference device can");
}
