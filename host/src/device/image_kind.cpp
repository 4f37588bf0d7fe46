// SPDX-License-Identifier: Apache-2.0
#include "device/image_kind.hpp"

#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

void check_image_kind(device_info const& info, linked_image const& image)
{
  auto const is_gpu = info.kind == device_kind::gpu;
  auto const is_cubin = image.kind == image_kind::cubin;
  auto const is_ptx = image.kind == image_kind::ptx || image.kind == image_kind::ptx_set;
  if (is_gpu ? is_cubin : is_ptx) return;
  if (!is_gpu && image.mode == link_mode::sass)
    throw unavailable_error(
        stage::device,
        {.message = detail::format("{} runs PTX, not SASS, which a sass link makes", info.name),
         .input = "linked image",
         .code = error_code::needs_gpu,
         .hint = "load it on a GPU, or link in another mode: <link_mode::lto>"});
  throw device_error(
      stage::device,
      {.message = detail::format(
           "loading the linked image on {} failed: it is a {}, and this device loads "
           "{}",
           info.name, to_string(image.kind), is_gpu ? "cubins only" : "PTX and sets of PTX only"),
       .input = "linked image",
       .code = error_code::invalid_image,
       .hint = "link with <device::link_options(mode)> of the device that loads the image"});
}

}  // namespace fatlink::detail
