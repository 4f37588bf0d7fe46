// SPDX-License-Identifier: Apache-2.0
// .npy files: arrays that are read and written, dtypes, and what is refused.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "expect_error.hpp"
#include "fixtures.hpp"
#include "util/files/npy.hpp"

using namespace fatlink;

namespace {

auto const k_float32 = scalar_type(scalar_kind::float32);

}  // namespace

TEST(Npy, ReadsBackWhatItWrote)
{
  fixtures::folder const folder;
  auto const path = folder.path() / "x.npy";
  std::array const values{1.0F, -2.5F, 0.0F, 1e30F, -0.0F};
  npy_writer writer(path, k_float32, std::array{values.size()});
  EXPECT_FALSE(std::filesystem::exists(path));
  writer.append(std::as_bytes(std::span(values).first(2)));
  writer.append(std::as_bytes(std::span(values).subspan(2)));
  writer.commit();

  npy_reader const reader(path);
  ASSERT_EQ(reader.size(), values.size());
  std::array<float, 3> part{};
  reader.read(1, std::as_writable_bytes(std::span(part)));
  EXPECT_EQ(part, (std::array{-2.5F, 0.0F, 1e30F}));
}

TEST(Npy, LeavesNothingBehindWithoutCommit)
{
  fixtures::folder const folder;
  {
    npy_writer writer(folder.path() / "x.npy", k_float32, std::array{std::size_t{2}});
    std::array const values{1.0F, 2.0F};
    writer.append(std::as_bytes(std::span(values).first(1)));
    expect_error<file_error>([&] { writer.commit(); }, "1 elements were never written");
    expect_error<file_error>([&] { writer.append(std::as_bytes(std::span(values))); },
                             "more elements than announced");
  }
  EXPECT_TRUE(folder.empty());
}

TEST(Npy, ReadsBackArraysOfStructsInSeveralDimensions)
{
  fixtures::folder const folder;
  auto const path = folder.path() / "x.npy";
  auto const type =
      record_type("best", {"value", "index"}, {k_float32, scalar_type(scalar_kind::int64)});
  std::vector<std::byte> bytes(6 * type.size);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  npy_writer writer(path, type, std::array<std::size_t, 2>{2, 3});
  writer.append(bytes);
  writer.commit();

  npy_reader const reader(path);
  EXPECT_EQ(reader.type(), type);
  EXPECT_EQ(reader.extents(), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(reader.size(), 6U);
  std::vector<std::byte> part(2 * type.size);
  reader.read(4, part);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), bytes.begin() + 4 * 16));
}

TEST(Npy, ReadsAnArrayWithoutDimensionsAsOneElement)
{
  fixtures::folder const folder;
  auto const path = folder.path() / "x.npy";
  auto const value = 7.0F;
  npy_writer writer(path, k_float32, {});
  writer.append(std::as_bytes(std::span(&value, 1)));
  writer.commit();
  npy_reader const reader(path);
  EXPECT_EQ(reader.size(), 1U);
  EXPECT_TRUE(reader.extents().empty());
}

TEST(Npy, RefusesShapesOfOtherSizesThanTheData)
{
  fixtures::folder const folder;
  auto const read = [&](std::string const& dtype, std::string const& shape) {
    auto const header =
        "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': " + shape + "}\n";
    auto const path = folder.write("x.npy", std::string("\x93NUMPY\x01\x00", 8) +
                                                std::string{static_cast<char>(header.size()), 0} +
                                                header + "12345678");
    return npy_reader(path).size();
  };
  EXPECT_EQ(read("<f2", "(2, 2)"), 4U);
  expect_error<file_error>([&] { read("<f2", "(2, 3)"); }, "6 elements need 12 bytes of data, 8");
  expect_error<file_error>([&] { read("<f2", "(3,)"); }, "2 bytes follow its 3 elements");
  expect_error<file_error>([&] { read("<f2", "(3, 0)"); }, "8 bytes follow its 0 elements");
  expect_error<file_error>([&] { read("<f2", "(4294967296, 4294967296)"); }, "more than 2^64");
  expect_error<file_error>([&] { read("<f2", "(9223372036854775808,)"); }, "more than 2^64");
}

TEST(Npy, AcceptsVersionTwoHeaders)
{
  fixtures::folder const folder;
  std::string const header = "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (1,)}\n";
  auto content = std::string("\x93NUMPY\x02\x00", 8) +
                 std::string{static_cast<char>(header.size()), 0, 0, 0} + header;
  content += std::string(4, '\0');
  EXPECT_EQ(npy_reader(folder.write("x.npy", content)).size(), 1U);
}

// The headers are those that NumPy 2 and ml_dtypes write.

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
