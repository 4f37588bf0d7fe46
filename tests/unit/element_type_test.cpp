// SPDX-License-Identifier: Apache-2.0
#include "fatlink/element_type.hpp"

#include <gtest/gtest.h>

#include "fatlink/error.hpp"

using namespace fatlink;

namespace {

TEST(ElementType, IsReadFromItsName)
{
  for (auto const* name : {"float16", "bfloat16", "float32", "float64", "int8", "uint64",
                           "complex64", "complex128", "bytes1", "bytes8", "bytes4096"}) {
    auto const type = parse_element_type(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(to_string(*type), name);
  }
}

TEST(ElementType, OfAnotherNameIsNone)
{
  for (auto const* name : {"", "float", "Float32", "bytes", "bytes0", "bytes08", "bytes4097",
                           "bytes-1", "bytes8 ", "record", "bytes99999999999999999999"})
    EXPECT_FALSE(parse_element_type(name)) << name;
}

TEST(ElementType, OfAStructIsLaidOutAsInCpp)
{
  struct example {
    char a;
    double b;
    short c;
  };
  auto const type = record_type("example", {"a", "b", "c"},
                                {scalar_type(scalar_kind::int8), scalar_type(scalar_kind::float64),
                                 scalar_type(scalar_kind::int16)});
  EXPECT_EQ(type.size, sizeof(example));
  EXPECT_EQ(type.alignment, alignof(example));
  EXPECT_EQ(type.fields[1].offset, offsetof(example, b));
  EXPECT_EQ(type.fields[2].offset, offsetof(example, c));
  EXPECT_EQ(to_string(type), "example");
}

TEST(ElementType, OfAStructIsRefusedWithoutDistinctNumbersAsFields)
{
  auto const number = scalar_type(scalar_kind::float32);
  EXPECT_THROW(record_type("s", {}, {}), usage_error);
  EXPECT_THROW(record_type("s", {"a", "a"}, {number, number}), usage_error);
  EXPECT_THROW(record_type("s", {"a b"}, {number}), usage_error);
  EXPECT_THROW(record_type("s", {"a"}, {bytes_type(4)}), usage_error);
  EXPECT_THROW(bytes_type(0), usage_error);
  EXPECT_THROW(bytes_type(4097), usage_error);
  EXPECT_THROW(scalar_type(scalar_kind::record), usage_error);
}

TEST(ElementType, IsEqualWhereAllFieldsAre)
{
  auto const number = scalar_type(scalar_kind::float32);
  auto const a = record_type("a", {"x", "y"}, {number, number});
  EXPECT_EQ(a, record_type("b", {"x", "y"}, {number, number}));
  EXPECT_FALSE(a == record_type("a", {"x", "z"}, {number, number}));
  EXPECT_FALSE(a == bytes_type(8));
}

}  // namespace
