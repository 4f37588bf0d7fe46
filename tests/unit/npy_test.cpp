// SPDX-License-Identifier: Apache-2.0
#include "verification/npy.hpp"

#include <gtest/gtest.h>

#include <array>

#include "expect_error.hpp"
#include "fixtures.hpp"

using namespace fatlink;

TEST(Npy, ReadsBackWhatItWrote)
{
  fixtures::folder const folder;
  auto const path = folder.path() / "x.npy";
  std::array const values{1.0F, -2.5F, 0.0F, 1e30F, -0.0F};
  npy_writer writer(path, values.size());
  EXPECT_FALSE(std::filesystem::exists(path));
  writer.append(std::span(values).first(2));
  writer.append(std::span(values).subspan(2));
  writer.commit();

  npy_reader const reader(path);
  ASSERT_EQ(reader.size(), values.size());
  std::array<float, 3> part{};
  reader.read(1, part);
  EXPECT_EQ(part, (std::array{-2.5F, 0.0F, 1e30F}));
}

TEST(Npy, LeavesNothingBehindWithoutCommit)
{
  fixtures::folder const folder;
  {
    npy_writer writer(folder.path() / "x.npy", 2);
    writer.append(std::array{1.0F});
    expect_error<file_error>([&] { writer.commit(); }, "1 elements were never written");
    expect_error<file_error>(
        [&] {
          writer.append(std::array{1.0F, 2.0F});
        },
        "more elements than announced");
  }
  EXPECT_TRUE(folder.empty());
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
