// SPDX-License-Identifier: Apache-2.0
// Memory of the C interface, on the reference device. unit/device/launches_test.cpp has what
// kernels may do with mapped memory.
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "c_interface_fixture.hpp"
#include "c_plan_fixture.hpp"
#include "failing_allocation.hpp"
#include "test_scale.hpp"

using fixtures::c_buffer;
using fixtures::fail;
using fixtures::fail_usage;
using fixtures::result_of;
using fixtures::succeed;

namespace {

class CMemory : public fixtures::c_interface {
 protected:
  std::array<std::uint8_t, 4> const values_{1, 2, 3, 4};
  std::array<std::uint8_t, 4> copy_{};
};

}  // namespace

TEST_F(CMemory, IsWrittenAndReadAtOffsets)
{
  auto const buffer = allocate(8);
  EXPECT_EQ(fatlink_buffer_bytes(buffer.get()), 8U);
  EXPECT_NE(fatlink_buffer_address(buffer.get()), 0U);
  succeed(fatlink_buffer_write(buffer.get(), 4, values_.data(), 4, nullptr));
  succeed(fatlink_buffer_read_now(buffer.get(), 5, copy_.data(), 3));
  EXPECT_EQ(copy_, (std::array<std::uint8_t, 4>{2, 3, 4, 0}));
  succeed(fatlink_buffer_write_now(buffer.get(), 0, values_.data(), 4));
  succeed(fatlink_buffer_fill(buffer.get(), 9, nullptr));
  succeed(fatlink_buffer_read(buffer.get(), 0, copy_.data(), 4, nullptr));
  EXPECT_EQ(copy_, (std::array<std::uint8_t, 4>{9, 9, 9, 9}));
}

TEST_F(CMemory, OfTheHostIsOnNoGpu)
{
  std::int32_t ordinal = 7;
  fatlink_memory_kind kind = 7;
  auto const address = reinterpret_cast<std::uintptr_t>(values_.data());
  auto* const refusal = fatlink_address_get_device(address, &ordinal, &kind);
  if (fatlink_gpu_count() == 0)
    fail(refusal, FATLINK_ERROR_UNAVAILABLE, "no CUDA driver");
  else
    fail_usage(refusal, "is not in memory of CUDA");
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(kind, 0);
  fail_usage(fatlink_address_get_device(address, nullptr, &kind), "ordinal is NULL");
}

TEST_F(CMemory, OutsideOfTheBufferIsRefused)
{
  auto const buffer = allocate(4);
  fail_usage(fatlink_buffer_write_now(buffer.get(), 1, values_.data(), 4), "exceeds a buffer of 4");
  fail_usage(fatlink_buffer_read_now(buffer.get(), 5, copy_.data(), 0), "exceeds a buffer of 4");
}

TEST_F(CMemory, ThatIsTooLargeIsAnErrorOfMissingMemory)
{
  fatlink_buffer* buffer = nullptr;
  fail(fatlink_buffer_allocate(device_.get(), SIZE_MAX / 2, &buffer), FATLINK_ERROR_MEMORY,
       "cannot allocate");
}

TEST_F(CMemory, MayBeTheHosts)
{
  auto values = values_;
  c_buffer buffer;
  succeed(fatlink_buffer_map_host(device_.get(), values.data(), 4, 0, result_of(buffer)));
  EXPECT_EQ(fatlink_buffer_address(buffer.get()) % 512,
            reinterpret_cast<std::uintptr_t>(values.data()) % 512);
  succeed(fatlink_buffer_fill(buffer.get(), 7, nullptr));
  EXPECT_EQ(values, (std::array<std::uint8_t, 4>{7, 7, 7, 7}));
}

TEST_F(CMemory, OfTheHostMayBeReadOnly)
{
  auto values = values_;
  c_buffer buffer;
  succeed(fatlink_buffer_map_host(device_.get(), values.data(), 4, 1, result_of(buffer)));
  fail(fatlink_buffer_fill(buffer.get(), 7, nullptr), FATLINK_ERROR_DEVICE, "read-only");
  EXPECT_EQ(values, values_);
}

TEST_F(CMemory, OfTheHostIsInItsAddressSpace)
{
  auto values = values_;
  fatlink_buffer* none = nullptr;
  for (auto const bytes : {SIZE_MAX, SIZE_MAX / 2, (std::size_t{1} << 44U) + 1})
    fail_usage(fatlink_buffer_map_host(device_.get(), values.data(), bytes, 0, &none),
               std::to_string(bytes) + " bytes of host memory cannot be mapped");
  EXPECT_EQ(none, nullptr);
  auto* const last = reinterpret_cast<void*>(UINTPTR_MAX - 2);  // NOLINT: an address only
  fail_usage(fatlink_buffer_map_host(device_.get(), last, 4, 0, &none),
             "4 bytes of host memory cannot be mapped");
}

TEST_F(CMemory, RefusesNull)
{
  auto const buffer = allocate(4);
  fatlink_buffer* none = nullptr;
  fail_usage(fatlink_buffer_allocate(nullptr, 4, &none), "device is NULL");
  fail_usage(fatlink_buffer_allocate(device_.get(), 4, nullptr), "buffer is NULL");
  fail_usage(fatlink_buffer_map_host(nullptr, copy_.data(), 4, 0, &none), "device is NULL");
  fail_usage(fatlink_buffer_map_host(device_.get(), nullptr, 4, 0, &none), "memory is NULL");
  fail_usage(fatlink_buffer_map_host(device_.get(), copy_.data(), 4, 0, nullptr), "buffer is NULL");
  fail_usage(fatlink_buffer_write_now(nullptr, 0, values_.data(), 4), "buffer is NULL");
  fail_usage(fatlink_buffer_write_now(buffer.get(), 0, nullptr, 4), "source is NULL");
  fail_usage(fatlink_buffer_write(buffer.get(), 0, nullptr, 4, nullptr), "source is NULL");
  fail_usage(fatlink_buffer_read_now(nullptr, 0, copy_.data(), 4), "buffer is NULL");
  fail_usage(fatlink_buffer_read_now(buffer.get(), 0, nullptr, 4), "destination is NULL");
  fail_usage(fatlink_buffer_read(buffer.get(), 0, nullptr, 4, nullptr), "destination is NULL");
  fail_usage(fatlink_buffer_fill(nullptr, 0, nullptr), "buffer is NULL");
  EXPECT_EQ(fatlink_buffer_address(nullptr), 0U);
  EXPECT_EQ(fatlink_buffer_bytes(nullptr), 0U);
  fatlink_buffer_free(nullptr);
}

namespace {

/// Makes each allocation of `call` fail in turn, by itself and with all after it; each third one
/// unless $FATLINK_TEST_SCALE is above 1. `expected`: the
/// kind of error without a failure, 0 for none. Failures that no error tells are those of a cache.
template <typename Call>
void expect_missing_memory(Call const& call, fatlink_error_kind expected)
{
  using fixtures::failing_allocation;
  auto const step = fixtures::scaled(1) > 1 ? 1U : 3U;
  for (auto const extent : {failing_allocation::extent::one, failing_allocation::extent::all}) {
    std::size_t successful = 0;
    std::size_t refused = 0;
    for (bool has_failed = true; has_failed; successful += step) {
      fixtures::c_error error;
      {
        failing_allocation const failure(successful, extent);
        error.reset(call());
        has_failed =
            fixtures::allocations_left() == fixtures::k_never || fixtures::allocations_left() == 0;
      }
      auto const kind = error ? fatlink_error_get_kind(error.get()) : 0;
      refused += kind == FATLINK_ERROR_MEMORY ? 1 : 0;
      if (kind == FATLINK_ERROR_MEMORY) continue;
      ASSERT_EQ(kind, expected) << "after " << successful << " allocations: "
                                << (error ? fatlink_error_message(error.get()) : "");
    }
    EXPECT_GT(refused, 10U);
  }
}

class CMissingMemory : public fixtures::c_plans {};

}  // namespace

TEST_F(CMissingMemory, IsAnErrorWhereAFileIsRead)
{
  auto const path = places::corpus("weighted_sum.fatbin");
  auto const read = [&] {
    fixtures::c_input input;
    return fatlink_input_read(path.c_str(), result_of(input));
  };
  expect_missing_memory(read, 0);
}

TEST_F(CMissingMemory, IsAnErrorWhereANameIsNotInstalled)
{
  auto const find = [] {
    fixtures::c_input input;
    return fatlink_input_find("nothing_of_this_name", result_of(input));
  };
  expect_missing_memory(find, FATLINK_ERROR_FILE);
}

TEST_F(CMissingMemory, IsAnErrorWhereAPlanIsPrepared)
{
  auto const library = places::corpus("weighted_sum.fatbin");
  auto const* const transform = transform_.get();
  fatlink_plan_request request = {};
  request.size = sizeof request;
  request.library = library.c_str();
  request.transforms = &transform;
  request.transform_count = 1;
  request.mode = FATLINK_MODE_PTX;
  auto const prepare = [&] {
    fixtures::c_plan plan;
    return fatlink_plan_prepare(device_.get(), linker_.get(), &request, result_of(plan));
  };
  expect_missing_memory(prepare, 0);
}

TEST_F(CMissingMemory, IsNotWhatACountIsThatNoMemoryHolds)
{
  fixtures::c_input input;
  fail_usage(fatlink_input_from_bytes("x", SIZE_MAX, "x.ptx", result_of(input)),
             "the count of bytes is 18446744073709551615, more than fits into memory");
  fatlink_findings* findings = nullptr;
  fatlink_input const* none = nullptr;
  fatlink_link_options options = {};
  options.size = sizeof options;
  options.target = "sm_90";
  fail_usage(fatlink_check(&none, SIZE_MAX, &options, &findings), "the count of inputs is");
}
