// SPDX-License-Identifier: Apache-2.0
// Arrays of Python's frameworks as the C interface reads them, by functions of this test in place
// of a framework's.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "c_interface/plan_arguments.hpp"
#include "fatlink/error.hpp"

using fatlink::c::array_exchange;
using fatlink::c::dl_exchange_api;
using fatlink::c::dl_tensor;

namespace {

int cleared = 0;
int locks = 0;

int read_tensor(void* object, dl_tensor* result)
{
  if (object == &cleared) return -1;
  *result = *static_cast<dl_tensor const*>(object);
  return 0;
}

int current_stream(std::int32_t /*type*/, std::int32_t device, void** stream)
{
  *stream = &locks;
  return device == 1 ? -1 : 0;
}

class ArrayExchange : public testing::Test {
 protected:
  ArrayExchange()
  {
    api_.major = 1;
    api_.read = &read_tensor;
    api_.current_stream = &current_stream;
    given_.size = sizeof given_;
    given_.api = &api_;
    given_.clear = [] { ++cleared; };
    argument_.size = sizeof argument_;
    argument_.name = "in";
    argument_.scalar = FATLINK_FLOAT32;
    tensor_ = {.data = memory_.data(),
               .device_type = 2,
               .device_id = 0,
               .dimensions = 1,
               .code = 2,  // kDLFloat
               .bits = 32,
               .lanes = 1,
               .shape = shape_.data(),
               .strides = strides_.data(),
               .byte_offset = 0};
  }

  void expect_refused(std::string const& cause, int ordinal = 0)
  {
    try {
      array_exchange arrays(&given_, ordinal);
      (void)arrays.read(argument_, &tensor_);
      ADD_FAILURE() << "not refused: " << cause;
    } catch (fatlink::usage_error const& refused) {
      EXPECT_NE(std::string(refused.what()).find(cause), std::string::npos) << refused.what();
      EXPECT_FALSE(refused.details().hint.empty());
    }
  }

  std::array<float, 12> memory_{};
  std::array<std::int64_t, 2> shape_{12, 1};
  std::array<std::int64_t, 2> strides_{1, 1};
  dl_exchange_api api_{};
  fatlink_array_exchange given_{};
  fatlink_argument argument_{};
  dl_tensor tensor_{};
};

}  // namespace

TEST_F(ArrayExchange, ReadsAddressesAndCounts)
{
  given_.dimensions = -1;
  array_exchange arrays(&given_, 0);
  auto const address = reinterpret_cast<fatlink::device_address>(memory_.data());
  auto const argument = arrays.read(argument_, &tensor_);
  EXPECT_EQ(argument.name(), "in");
  EXPECT_EQ(argument.address(), address);
  EXPECT_EQ(argument.count(), 12U);
  EXPECT_EQ(argument.element_bytes(), 4U);
  tensor_.byte_offset = 8;
  shape_ = {3, 4};
  strides_ = {4, 1};
  tensor_.dimensions = 0;
  EXPECT_EQ(arrays.read(argument_, &tensor_).count(), 1U);
  EXPECT_EQ(arrays.read(argument_, &tensor_).address(), address + 8);
  EXPECT_EQ(arrays.current_stream().native_handle(), &locks);
}

TEST_F(ArrayExchange, ReadsEachNumberType)
{
  struct number {
    fatlink_scalar scalar;
    std::uint8_t code;
    std::uint8_t bits;
  };
  for (auto const& [scalar, code, bits] :
       {number{FATLINK_FLOAT16, 2, 16}, number{FATLINK_BFLOAT16, 4, 16},
        number{FATLINK_FLOAT64, 2, 64}, number{FATLINK_INT8, 0, 8}, number{FATLINK_INT64, 0, 64},
        number{FATLINK_UINT8, 1, 8}, number{FATLINK_UINT64, 1, 64},
        number{FATLINK_COMPLEX64, 5, 64}, number{FATLINK_COMPLEX128, 5, 128}}) {
    argument_.scalar = scalar;
    expect_refused("is an array of DLPack's type code");
    tensor_.code = code;
    tensor_.bits = bits;
    array_exchange arrays(&given_, 0);
    EXPECT_EQ(arrays.read(argument_, &tensor_).element_bytes(), bits / 8U);
    tensor_.code = 6;  // bool
    expect_refused("is an array of DLPack's type code 6");
  }
  argument_.scalar = FATLINK_BYTES;
  expect_refused("type code");
}

TEST_F(ArrayExchange, RefusesOtherPlaces)
{
  expect_refused("prepared for the reference device", -1);
  expect_refused("on DLPack's device 2:0; the plan runs on gpu:1", 1);
  tensor_.device_type = 1;
  expect_refused("on DLPack's device 1:0");
  tensor_.device_type = 2;
  tensor_.data = nullptr;
  expect_refused("has no memory");
}

TEST_F(ArrayExchange, RefusesOtherShapes)
{
  strides_ = {2, 1};
  expect_refused("not contiguous");
  shape_ = {3, 4};
  strides_ = {1, 3};
  tensor_.dimensions = 2;
  expect_refused("not contiguous");
  strides_ = {4, 1};
  given_.dimensions = 1;
  expect_refused("has 2 dimensions");
  tensor_.dimensions = 0;
  expect_refused("has 0 dimensions");
  tensor_.dimensions = 2;
  std::array<std::int64_t, 1> flat{12};
  auto other = tensor_;
  other.dimensions = 1;
  other.shape = flat.data();
  other.strides = nullptr;
  given_.dimensions = 0;
  array_exchange alike(&given_, 0);
  EXPECT_EQ(alike.read(argument_, &tensor_).count(), 12U);
  EXPECT_EQ(alike.read(argument_, &tensor_).count(), 12U);
  EXPECT_THROW((void)alike.read(argument_, &other), fatlink::usage_error);
  std::array<std::int64_t, 2> transposed{4, 3};
  auto turned = tensor_;
  turned.shape = transposed.data();
  turned.strides = nullptr;
  EXPECT_THROW((void)alike.read(argument_, &turned), fatlink::usage_error);
  given_.dimensions = -1;
  array_exchange any(&given_, 0);
  EXPECT_EQ(any.read(argument_, &tensor_).count(), 12U);
  EXPECT_EQ(any.read(argument_, &other).count(), 12U);
}

TEST_F(ArrayExchange, ClearsExceptionsOfTheFramework)
{
  array_exchange arrays(&given_, 0);
  auto const before = cleared;
  EXPECT_THROW((void)arrays.read(argument_, &cleared), fatlink::usage_error);
  EXPECT_EQ(cleared, before + 1);
  array_exchange const others(&given_, 1);
  EXPECT_THROW((void)others.current_stream(), fatlink::usage_error);
  EXPECT_EQ(cleared, before + 2);
}

TEST_F(ArrayExchange, TakesTheVersionThatItKnows)
{
  dl_exchange_api newer{};
  newer.major = 2;
  newer.former = &api_;
  given_.api = &newer;
  array_exchange arrays(&given_, 0);
  EXPECT_EQ(arrays.read(argument_, &tensor_).count(), 12U);
  newer.former = nullptr;
  expect_refused("exchange.api has no functions of DLPack 1.3");
  given_.api = nullptr;
  expect_refused("exchange.api is NULL");
  api_.read = nullptr;
  given_.api = &api_;
  expect_refused("exchange.api has no functions");
}

TEST_F(ArrayExchange, ReleasesTheLockWhileItQueues)
{
  given_.release = []() -> void* {
    ++locks;
    return &locks;
  };
  expect_refused("exchange.acquire is NULL");
  given_.acquire = [](void* thread) { locks = thread == &locks ? 0 : 7; };
  array_exchange const arrays(&given_, 0);
  {
    array_exchange::unlocked const others(arrays);
    EXPECT_EQ(locks, 1);
  }
  EXPECT_EQ(locks, 0);
}
