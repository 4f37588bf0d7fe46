// SPDX-License-Identifier: Apache-2.0
// The headers are those that NumPy 2 and ml_dtypes write.

#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fixtures.hpp"
#include "verification/npy.hpp"

using namespace fatlink;

namespace {

detail::npy_header parse(std::string const& dtype, std::string const& shape = "(3,)",
                         std::string const& order = "False")
{
  auto const text = "{'descr': " + dtype + ", 'fortran_order': " + order + ", 'shape': " + shape +
                    ", }          \n";
  return detail::parse_npy_header(text, "x.npy");
}

void expect_refused_dtype(std::string const& dtype, std::string const& says)
{
  expect_error<file_error>([&] { (void)parse(dtype); }, "x.npy: " + says);
}

void expect_malformed(std::string const& header, std::string const& says)
{
  expect_error<file_error>([&] { (void)detail::parse_npy_header(header, "x.npy"); }, says);
}

}  // namespace

TEST(NpyHeader, ReadsTheDtypeOfEveryNumberAndWritesItBack)
{
  for (auto const* name : {"float16", "float32", "float64", "int8", "int16", "int32", "int64",
                           "uint8", "uint16", "uint32", "uint64", "complex64", "complex128"}) {
    auto const type = *parse_element_type(name);
    auto const dtype = detail::npy_dtype(type);
    EXPECT_EQ(parse(dtype).type, type) << dtype;
  }
  EXPECT_EQ(detail::npy_dtype(scalar_type(scalar_kind::uint8)), "'|u1'");
  EXPECT_EQ(detail::npy_dtype(scalar_type(scalar_kind::complex128)), "'<c16'");
}

TEST(NpyHeader, ReadsVoidAsBytesAndBoolAsUint8WithANote)
{
  EXPECT_EQ(parse("'|V8'").type, bytes_type(8));
  EXPECT_EQ(parse("'|b1'").type, scalar_type(scalar_kind::uint8));
  EXPECT_EQ(parse("'|b1'").note, "bool is read as uint8");
  EXPECT_EQ(parse("'|u1'").note, "");
}

TEST(NpyHeader, StoresBfloat16InTwoBytesAsMlDtypesDoes)
{
  auto const bfloat16 = scalar_type(scalar_kind::bfloat16);
  EXPECT_EQ(detail::npy_dtype(bfloat16), "'<V2'");
  EXPECT_TRUE(is_stored_as(bfloat16, parse("'<V2'").type));
  EXPECT_FALSE(is_stored_as(bfloat16, parse("'<f2'").type));
  EXPECT_FALSE(is_stored_as(scalar_type(scalar_kind::float16), parse("'<V2'").type));
  auto const record = record_type("", {"x"}, {bfloat16});
  EXPECT_TRUE(is_stored_as(record, parse(detail::npy_dtype(record)).type));
}

TEST(NpyHeader, ReadsStructsWithPaddingAsCppLaysThemOut)
{
  auto const type = [](char const* name) { return *parse_element_type(name); };
  auto const aligned =
      record_type("", {"flag", "big", "last"}, {type("int8"), type("float64"), type("uint16")});
  auto const* const dtype =
      "[('flag', '|i1'), ('', '|V7'), ('big', '<f8'), ('last', '<u2'), ('', '|V6')]";
  EXPECT_EQ(parse(dtype).type, aligned);
  EXPECT_EQ(parse(dtype).type.alignment, 8U);
  EXPECT_EQ(detail::npy_dtype(aligned), dtype);
  EXPECT_EQ(parse("[('value', '<f4'), ('index', '<i4')]").type,
            record_type("best", {"value", "index"}, {type("float32"), type("int32")}));
}

TEST(NpyHeader, ReadsPackedStructsAsAnotherLayout)
{
  auto const packed = parse("[('flag', '|i1'), ('big', '<f8')]").type;
  EXPECT_EQ(packed.size, 9U);
  EXPECT_EQ(packed.alignment, 1U);
  EXPECT_EQ(detail::npy_dtype(packed), "[('flag', '|i1'), ('big', '<f8')]");
}

TEST(NpyHeader, ReadsAnyNumberOfDimensions)
{
  using extents = std::vector<std::size_t>;
  EXPECT_EQ(parse("'<f4'", "()").extents, extents{});
  EXPECT_EQ(parse("'<f4'", "(3,)").extents, extents{3});
  EXPECT_EQ(parse("'<f4'", "(2, 3, 4)").extents, (extents{2, 3, 4}));
  EXPECT_EQ(detail::npy_shape(extents{}), "()");
  EXPECT_EQ(detail::npy_shape(extents{3}), "(3,)");
  EXPECT_EQ(detail::npy_shape(extents{2, 3}), "(2, 3)");
}

TEST(NpyHeader, RefusesFortranOrderUnlessThereIsOneDimension)
{
  EXPECT_EQ(parse("'<f4'", "(3,)", "True").extents.size(), 1U);
  expect_error<file_error>([] { (void)parse("'<f4'", "(2, 3)", "True"); },
                           "x.npy: its array is in Fortran order (column-major)");
}

TEST(NpyHeader, RefusesDtypesThatNoElementTypeStandsFor)
{
  expect_refused_dtype("'>f4'", "dtype is >f4, which is big-endian");
  for (auto const* dtype : {"<f16", "|O", "<U5", "|S3", "<M8[s]", "=f4", "|f4", "f4", "", "|V0",
                            "|V4097", "|V08", "<c4", "\\x00"})
    expect_refused_dtype("'" + std::string(dtype) + "'",
                         "dtype is " + std::string(dtype) + ", which fatlink does not read");
}

TEST(NpyHeader, RefusesStructsThatAreMoreThanNumbers)
{
  expect_refused_dtype("[]", "its dtype has no fields");
  expect_refused_dtype("[('', '|V4')]", "its dtype has no fields");
  expect_refused_dtype("[('p', '<f4', (3,))]", "a field of its dtype is an array");
  expect_refused_dtype("[('p', [('q', '<f4')])]", "its dtype has a struct in a struct");
  expect_refused_dtype("[(('title', 'p'), '<f4')]", "a field of its dtype has a title");
  expect_refused_dtype("[('p', '<f4'), ('p', '<f4')]", "two fields are called p");
  expect_refused_dtype("[('a b', '<f4')]", "the name of a field is \"a b\"");
  expect_refused_dtype("[('1', '<f4')]", "the name of a field is \"1\"");
  expect_refused_dtype("[('p', '|V8')]", "field p is of dtype V8");
  expect_refused_dtype("[('p', '<f4'), ('', '|V4093')]", "an element has more than 4096 bytes");
  expect_refused_dtype("[('p', '<f4'), ('', '|V4092'), ('q', '<f4')]",
                       "an element has more than 4096 bytes");
}

TEST(NpyHeader, RefusesWhatIsNoDictionaryOfTheseThreeKeys)
{
  expect_malformed("", "its header is malformed: it ends where it should have '{'");
  expect_malformed("{}", "its header has no 'descr'");
  expect_malformed("{'descr': '<f4'}", "its header has no 'fortran_order'");
  expect_malformed("{'descr': '<f4', 'fortran_order': False}", "its header has no 'shape'");
  expect_malformed("{'color': 1}", "its header has the unknown key 'color'");
  expect_malformed("{'descr': '<f4', 'descr': '<f4'}", "its header has 'descr' twice");
  expect_malformed("{'descr': '<f4}", "it should have the end of a string");
  expect_malformed("{'fortran_order': 0}", "\"0}\" where it should have True or False");
  expect_malformed("{'descr': '<f4'; }", "\"; }\" where it should have '}'");
  expect_malformed("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
                   "\"x\" where it should have nothing more");
}

TEST(NpyHeader, RefusesShapesThatAreNoTuplesOfNumbers)
{
  auto const expect_shape = [](std::string const& shape, std::string const& says) {
    expect_error<file_error>([&] { (void)parse("'<f4'", shape); }, says);
  };
  expect_shape("(3)", "it should have ','");
  expect_shape("3", "it should have '('");
  expect_shape("(-1,)", "it should have a number below 2^64");
  expect_shape("(18446744073709551616,)", "it should have a number below 2^64");
  expect_shape("(1, 2", "it should have a number below 2^64");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1,";
  expect_shape(many + ")", "more than 64 dimensions");
}
