// SPDX-License-Identifier: Apache-2.0
// Misuse of arrays, textures and surfaces, on the reference device: an error that names what is
// wrong before a device sees it. tests/gpu/device_misuse_test.cpp has what concerns a GPU.
#include <gtest/gtest.h>

#include <limits>

#include "expect_error.hpp"
#include "fatlink/device.hpp"
#include "fatlink/texture.hpp"
#include "reference_device_fixture.hpp"

using namespace fatlink;

namespace {

constexpr texel_format k_float_texel{channel_type::f32, 1};
constexpr texel_format k_byte_texel{channel_type::u8, 1};

class TextureMisuse : public fixtures::reference_device_test {
 protected:
  static void expect_refused_shape(array_shape const& shape, char const* message)
  {
    expect_error<usage_error>([&] { (void)texel_count(shape); }, message);
  }

  /// A texture of an array of `format` with these options.
  void expect_refused(texel_format const& format, texture_options const& options,
                      char const* message, bool is_cubemap = false) const
  {
    auto const array =
        device_->create_array(format, {.width = 4, .height = 4, .is_cubemap = is_cubemap});
    expect_error<usage_error>([&] { (void)device_->create_texture(array, options); }, message);
  }

  [[nodiscard]] device_array plane() const
  {
    return device_->create_array(k_float_texel, {.width = 4, .height = 4, .allows_surface = true});
  }
};

}  // namespace

TEST(TexelFormat, HasTheBytesOfItsChannels)
{
  EXPECT_EQ(texel_bytes({channel_type::u8, 1}), 1U);
  EXPECT_EQ(texel_bytes({channel_type::s8, 2}), 2U);
  EXPECT_EQ(texel_bytes({channel_type::f16, 4}), 8U);
  EXPECT_EQ(texel_bytes({channel_type::s16, 2}), 4U);
  EXPECT_EQ(texel_bytes({channel_type::f32, 4}), 16U);
}

TEST(TexelFormat, NamesItsChannels)
{
  EXPECT_STREQ(to_string(channel_type::u8), "u8");
  EXPECT_STREQ(to_string(channel_type::s8), "s8");
  EXPECT_STREQ(to_string(channel_type::u16), "u16");
  EXPECT_STREQ(to_string(channel_type::s16), "s16");
  EXPECT_STREQ(to_string(channel_type::u32), "u32");
  EXPECT_STREQ(to_string(channel_type::s32), "s32");
  EXPECT_STREQ(to_string(channel_type::f16), "f16");
  EXPECT_STREQ(to_string(channel_type::f32), "f32");
  EXPECT_STREQ(to_string(static_cast<channel_type>(99)), "unknown");
}

TEST(TexelFormat, RefusesOtherChannels)
{
  for (auto const channels : {0U, 3U, 5U})
    expect_error<usage_error>(
        [&] {
          (void)texel_bytes({channel_type::u8, channels});
        },
        "texels cannot have");
  expect_error<usage_error>(
      [&] {
        (void)texel_bytes({static_cast<channel_type>(99), 1});
      },
      "channel type 99 does not exist");
}

TEST(ArrayShape, CountsTheTexelsOfEveryLayerAndFace)
{
  EXPECT_EQ(texel_count({.width = 7}), 7U);
  EXPECT_EQ(texel_count({.width = 7, .layers = 3}), 21U);
  EXPECT_EQ(texel_count({.width = 7, .height = 5, .depth = 2}), 70U);
  EXPECT_EQ(texel_count({.width = 4, .height = 4, .is_cubemap = true}), 96U);
  EXPECT_EQ(texel_count({.width = 4, .height = 4, .layers = 2, .is_cubemap = true}), 192U);
}

TEST_F(TextureMisuse, RefusesDimensionsThatDoNotFit)
{
  expect_refused_shape({}, "an array needs a width");
  expect_refused_shape({.width = 4, .depth = 4}, "an array with a depth of 4 needs a height");
  expect_refused_shape({.width = 4, .height = 4, .depth = 4, .layers = 2},
                       "an array of layers or faces cannot have a depth of 4");
  expect_refused_shape({.width = 4, .height = 3, .is_cubemap = true},
                       "the faces of a cubemap are squares, not 4 x 3 texels");
  for (array_shape const& shape :
       {array_shape{.width = 4, .allows_gather = true},
        array_shape{.width = 4, .height = 4, .layers = 1, .allows_gather = true},
        array_shape{.width = 4, .height = 4, .depth = 4, .allows_gather = true},
        array_shape{.width = 4, .height = 4, .is_cubemap = true, .allows_gather = true}})
    expect_refused_shape(shape, "only 2-D arrays without layers allow gathers");
}

TEST_F(TextureMisuse, RefusesDimensionsThatCudaDoesNotAllow)
{
  constexpr auto k_huge = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(texel_count({.width = 131072, .height = 65536}), std::size_t{1} << 33);
  expect_refused_shape({.width = 131073}, "an array's width of 131073 is more than the 131072");
  expect_refused_shape({.width = 1, .height = 65537},
                       "an array's height of 65537 is more than the 65536");
  expect_refused_shape({.width = 1, .height = 1, .depth = k_huge}, "is more than the 32768");
  expect_refused_shape({.width = 8193, .height = 1, .depth = 16385}, "is more than the 16384");
  expect_refused_shape({.width = 1, .height = 1, .depth = 16385, .allows_surface = true},
                       "is more than the 16384");
  expect_refused_shape({.width = 32769, .allows_surface = true}, "is more than the 32768");
  expect_refused_shape({.width = 1, .layers = 2049},
                       "an array's number of layers of 2049 is more than the 2048");
  expect_refused_shape({.width = 32769, .height = 1, .allows_gather = true},
                       "is more than the 32768");
  expect_refused_shape({.width = 1, .height = 1, .layers = 342, .is_cubemap = true},
                       "is more than the 341");
}

TEST_F(TextureMisuse, RefusesArraysThatTheHostCannotHold)
{
  expect_error<device_error>(
      [&] {
        (void)device_->create_array({channel_type::f32, 4},
                                    {.width = 32768, .height = 32768, .layers = 2048});
      },
      "the host cannot allocate");
}

TEST_F(TextureMisuse, RefusesCopiesOfAnotherSize)
{
  auto array = plane();
  std::vector<std::byte> bytes(63);
  expect_error<usage_error>([&] { array.write(bytes); },
                            "writing 63 bytes of an array that has 64");
  expect_error<usage_error>([&] { array.read(bytes); }, "reading 63 bytes of an array that has 64");
}

TEST_F(TextureMisuse, RefusesIntegersWithAFilterOrABorder)
{
  expect_refused(k_byte_texel, {.filter = filter_mode::linear},
                 "texels of u8 that are read as integers cannot be interpolated");
  texture_options const bordered{
      .address = {address_mode::border, address_mode::clamp, address_mode::clamp},
      .border = {0, 0, 1, 0}};
  expect_refused(k_byte_texel, bordered, "texels of u8 that are read as integers have border 0");
  EXPECT_NE(device_->create_texture(plane(), bordered).handle(), 0U);
  texture_options const negative_zero{.address = bordered.address, .border = {-0.0F, 0, 0, 0}};
  expect_refused(k_byte_texel, negative_zero,
                 "texels of u8 that are read as integers have border 0");
}

TEST_F(TextureMisuse, RefusesWideIntegersAsNormalizedFloats)
{
  for (auto const type : {channel_type::u32, channel_type::s32})
    expect_refused({type, 1}, {.reads_normalized = true}, "cannot be read as normalized floats");
}

TEST_F(TextureMisuse, RefusesCubemapsWithoutNormalizedCoordinates)
{
  expect_refused(k_float_texel, {}, "a cubemap is read by directions", true);
}

TEST_F(TextureMisuse, RefusesModesThatDoNotExist)
{
  auto const unknown = static_cast<address_mode>(4);
  expect_refused(k_float_texel, {.address = {address_mode::wrap, address_mode::wrap, unknown}},
                 "address mode 4 does not exist");
  expect_refused(k_float_texel, {.filter = static_cast<filter_mode>(2)},
                 "filter mode 2 does not exist");
}

TEST_F(TextureMisuse, RefusesIndexedTexelsWithASampler)
{
  auto const buffer = device_->allocate<float>(16);
  auto const refusal = "texels of linear memory are read by index";
  for (texture_options const& options :
       {texture_options{.filter = filter_mode::linear},
        texture_options{.has_normalized_coordinates = true},
        texture_options{
            .address = {address_mode::border, address_mode::clamp, address_mode::clamp}}})
    expect_error<usage_error>(
        [&] { (void)device_->create_texture(buffer, k_float_texel, options); }, refusal);
}

TEST_F(TextureMisuse, RefusesBuffersOfNoWholeTexels)
{
  expect_error<usage_error>(
      [&] {
        (void)device_->create_texture(device_->allocate<float>(3), {channel_type::f32, 2});
      },
      "a buffer of 12 bytes is not a whole number of texels of 8 bytes");
  expect_error<usage_error>(
      [&] { (void)device_->create_texture(device_->allocate<float>(0), k_float_texel); },
      "a buffer of 0 bytes");
}

TEST_F(TextureMisuse, RefusesMoreTexelsThanCudaReadsByIndex)
{
  auto const buffer = device_->allocate<std::byte>(1);
  auto const address = std::make_shared<device_address>(buffer.address());
  constexpr auto k_limit = std::size_t{1} << 28;
  device_buffer<std::byte> const largest(device_->backend(), k_limit, address);
  EXPECT_NE(device_->create_texture(largest, k_byte_texel).handle(), 0U);
  device_buffer<std::byte> const larger(device_->backend(), k_limit + 1, address);
  expect_error<usage_error>(
      [&] { (void)device_->create_texture(larger, k_byte_texel); },
      "268435457 texels of linear memory are more than the 268435456 that are read by index");
}

TEST_F(TextureMisuse, RefusesTexelsThatAreNotAligned)
{
  auto const buffer = device_->allocate<float>(256);
  auto const address = std::make_shared<device_address>(buffer.address() + 16);
  device_buffer<float> const part(device_->backend(), 64, address);
  expect_error<usage_error>([&] { (void)device_->create_texture(part, k_float_texel); },
                            "are not aligned to 512 bytes");
}

TEST_F(TextureMisuse, RefusesRowsThatDoNotFit)
{
  auto const buffer = device_->allocate<float>(64);
  auto const expect_refused_rows = [&](pitched_shape const& rows, char const* message) {
    expect_error<usage_error>(
        [&] { (void)device_->create_texture(buffer, k_float_texel, rows, {}); }, message);
  };
  expect_refused_rows({.width = 0, .height = 1, .row_bytes = 32},
                      "linear memory cannot have 1 rows of 0 texels");
  expect_refused_rows({.width = 1, .height = 65001, .row_bytes = 32}, "cannot have 65001 rows");
  expect_refused_rows({.width = 9, .height = 2, .row_bytes = 36},
                      "rows of 9 texels of 4 bytes cannot be 36 bytes apart");
  expect_refused_rows({.width = 9, .height = 2, .row_bytes = 32}, "cannot be 32 bytes apart");
  expect_refused_rows({.width = 8, .height = 9, .row_bytes = 32},
                      "9 rows that are 32 bytes apart exceed a buffer of 256 bytes");
  EXPECT_NE(
      device_->create_texture(buffer, k_float_texel, {.width = 8, .height = 8, .row_bytes = 32}, {})
          .handle(),
      0U);
}

TEST_F(TextureMisuse, RefusesSurfacesOfArraysThatDoNotAllowThem)
{
  auto const array = device_->create_array(k_float_texel, {.width = 4, .height = 4});
  expect_error<usage_error>([&] { (void)device_->create_surface(array); },
                            "the array was made without access by surfaces");
}

TEST_F(TextureMisuse, RefusesWhatBelongsToAnotherDevice)
{
  auto const array = plane();
  auto const buffer = device_->allocate<float>(16);
  auto const refusal = "belongs to another device";
  expect_error<usage_error>([&] { (void)other_->create_texture(array); }, refusal);
  expect_error<usage_error>([&] { (void)other_->create_surface(array); }, refusal);
  expect_error<usage_error>([&] { (void)other_->create_texture(buffer, k_float_texel); }, refusal);
  pitched_shape const rows{.width = 4, .height = 1, .row_bytes = 32};
  expect_error<usage_error>([&] { (void)other_->create_texture(buffer, k_float_texel, rows, {}); },
                            refusal);
}

TEST_F(TextureMisuse, RefusesWhatWasMovedFrom)
{
  auto array = plane();
  auto texels = device_->create_texture(array);
  auto target = device_->create_surface(array);
  auto const moved = std::move(array);
  auto const moved_texels = std::move(texels);
  auto const moved_target = std::move(target);
  EXPECT_EQ(texels.handle(), 0U);             // NOLINT: that is what is tested
  EXPECT_EQ(target.handle(), 0U);             // NOLINT
  EXPECT_EQ(array.size_bytes(), 0U);          // NOLINT
  EXPECT_EQ(array.native_handle(), nullptr);  // NOLINT
  expect_error<usage_error>([&] { array.write({}); }, "was moved from");
  expect_error<usage_error>([&] { array.read({}); }, "was moved from");
  expect_error<usage_error>([&] { (void)device_->create_texture(array); }, "was moved from");
  expect_error<usage_error>([&] { (void)device_->create_surface(array); }, "was moved from");
  EXPECT_NE(moved_texels.handle(), moved_target.handle());
  EXPECT_EQ(moved.size_bytes(), 64U);
}
