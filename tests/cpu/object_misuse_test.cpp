// SPDX-License-Identifier: Apache-2.0
// Kernels of the reference device that are launched with wrong textures and surfaces: the error
// names what to change in the host program.
#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "fatlink/device.hpp"
#include "fatlink/texture.hpp"

namespace fatlink {
namespace {

class ObjectMisuse : public testing::Test {
 protected:
  /// The error of a kernel with the instruction `text`, whose object in %rd1 has `handle`.
  error_details failure_of(std::string const& text, std::uint64_t handle) const
  {
    linked_image image;
    image.kind = image_kind::ptx_set;
    image.parts = {{"a.ptx",
                    ".version 9.0\n.target sm_75\n.address_size 64\n"
                    ".visible .entry k(.param .u64 object)\n{\n.reg .b64 %rd<2>; .reg .f32 %f<5>; "
                    ".reg .b32 %r<2>;\nld.param.u64 %rd1, [object];\n" +
                        text + "\nret;\n}\n"}};
    auto const module = device_->load(image);
    auto stream = device_->create_stream();
    try {
      module.kernel<void(std::uint64_t)>("k").launch(stream, launch_shape{}, handle);
      stream.synchronize();
    } catch (device_error const& failed) {
      return failed.details();
    }
    throw std::logic_error("nothing fails");
  }

  static constexpr texel_format k_format{channel_type::f32, 1};
  static inline std::string const k_gather =
      "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {0f3F800000, 0f3F800000}];";
  std::shared_ptr<device> device_ = open_device("cpu");
};

}  // namespace

TEST_F(ObjectMisuse, ADestroyedTextureIsNamed)
{
  std::uint64_t handle = 0;
  {
    auto const array = device_->create_array(k_format, {.width = 4, .height = 4});
    handle = device_->create_texture(array).handle();
  }
  auto const failed = failure_of(k_gather, handle);
  EXPECT_THAT(failed.message, testing::HasSubstr("the object of the handle was destroyed"));
  EXPECT_EQ(failed.hint, "keep the fatlink::texture until the kernels that use it have finished");
}

TEST_F(ObjectMisuse, ATextureIsNotUsedAsASurface)
{
  auto const array = device_->create_array(k_format, {.width = 4, .allows_surface = true});
  auto const texels = device_->create_texture(array);
  auto const failed = failure_of("suld.b.1d.b32.trap {%r1}, [%rd1, {0}];", texels.handle());
  EXPECT_THAT(failed.message, testing::HasSubstr("is a texture, not a surface"));
  EXPECT_EQ(failed.hint,
            "pass the handle() of a fatlink::surface, or use it as a texture in the device code");
}

TEST_F(ObjectMisuse, AnArrayMustAllowGathers)
{
  auto const array = device_->create_array(k_format, {.width = 4, .height = 4});
  auto const texels = device_->create_texture(array);
  auto const failed = failure_of(k_gather, texels.handle());
  EXPECT_THAT(failed.message, testing::HasSubstr("the array was made without access by tld4"));
  EXPECT_EQ(failed.hint, "set array_shape::allows_gather when the array is made");
}

TEST_F(ObjectMisuse, RowsOfLinearMemoryHaveNoGathers)
{
  auto const buffer = device_->allocate<float>(32);
  pitched_shape const rows{.width = 4, .height = 4, .row_bytes = 32};
  auto const texels = device_->create_texture(buffer, k_format, rows, {});
  auto const failed = failure_of(k_gather, texels.handle());
  EXPECT_THAT(failed.message, testing::HasSubstr("from rows of linear memory"));
  EXPECT_EQ(failed.hint,
            "copy the texels to an array that is made with array_shape::allows_gather");
}

TEST_F(ObjectMisuse, FaultsOfTheDeviceCodeNameIt)
{
  auto const array = device_->create_array(k_format, {.width = 4, .allows_surface = true});
  auto const target = device_->create_surface(array);
  auto const failed = failure_of("suld.b.1d.b32.trap {%r1}, [%rd1, {16}];", target.handle());
  EXPECT_THAT(failed.hint, testing::StartsWith("fix the device code"));
}

}  // namespace fatlink
