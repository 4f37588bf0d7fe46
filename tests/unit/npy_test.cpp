// SPDX-License-Identifier: Apache-2.0
#include "verification/npy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "expect_error.hpp"
#include "fixtures.hpp"

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
