// SPDX-License-Identifier: Apache-2.0
// Types of elements: their names and sizes, and those that idents record.
#include <gtest/gtest.h>

#include "fatbin/ident.hpp"
#include "fatlink/element_type.hpp"
#include "fatlink/error.hpp"
#include "fatlink/ident.hpp"

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

namespace {

ptx_interface with_weak(std::vector<std::string> const& names)
{
  ptx_interface interface;
  for (auto const& name : names) interface.weak.push_back({.name = name});
  return interface;
}

// fatlink_elements::load_element<__half, 2ull, 2ull>(), as nvcc 13.0 names it
constexpr char const* k_half = "_ZN16fatlink_elements12load_elementI6__halfLy2ELy2EEEvv";
constexpr char const* k_best_symbol = "_ZN16fatlink_elements7combineI4bestLy8ELy4EEEvv";

TEST(ElementRecords, AreReadFromTheNamesOfWeakFunctions)
{
  auto const records =
      detail::element_records(with_weak({"_Z5twiceIfET_S0_", k_half, k_best_symbol}));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records.at("load_element").type, "__half");
  EXPECT_EQ(records.at("load_element").size, 2U);
  EXPECT_EQ(records.at("combine").type, "best");
  EXPECT_EQ(records.at("combine").size, 8U);
  EXPECT_EQ(records.at("combine").alignment, 4U);
}

TEST(ElementRecords, OfAHookWithTwoTypesAreNotUsed)
{
  auto const* const k_float = "_ZN16fatlink_elements12load_elementIfLy4ELy4EEEvv";
  EXPECT_TRUE(detail::element_records(with_weak({k_half, k_float})).empty());
}

TEST(ElementRecords, OfImpossibleSizesAreNotUsed)
{
  for (auto const* name :
       {"_ZN16fatlink_elements4hookIfLy0ELy4EEEvv", "_ZN16fatlink_elements4hookIfLy4ELy3EEEvv",
        "_ZN16fatlink_elements4hookIfLy4097ELy1EEEvv", "_ZN16fatlink_elements4hookIfLy6ELy4EEEvv",
        "_ZN16fatlink_elements4hookIfEEvv", "fatlink_elements"})
    EXPECT_TRUE(detail::element_records(with_weak({name})).empty()) << name;
}

TEST(ElementTypes, OfCudaHaveTheirNumbers)
{
  EXPECT_EQ(to_string(element_type_of({"__half", 2, 2})), "float16");
  EXPECT_EQ(to_string(element_type_of({"__nv_bfloat16", 2, 2})), "bfloat16");
  EXPECT_EQ(to_string(element_type_of({"signed char", 1, 1})), "int8");
  EXPECT_EQ(to_string(element_type_of({"unsigned long long", 8, 8})), "uint64");
  EXPECT_EQ(to_string(element_type_of({"cuda::std::__4::complex<float>", 8, 8})), "complex64");
}

TEST(ElementTypes, WithoutKnownMembersAreBytes)
{
  EXPECT_EQ(to_string(element_type_of({"best", 8, 4})), "bytes8");
  EXPECT_EQ(to_string(element_type_of({"mine::complex<float>", 8, 4})), "bytes8");
  EXPECT_EQ(to_string(element_type_of({"float", 8, 4})), "bytes8")
      << "a type of that name and another size";
}

}  // namespace
