// SPDX-License-Identifier: Apache-2.0
#include "device/device_checks.hpp"

#include <algorithm>
#include <utility>

#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

std::string list_of(std::span<std::size_t const> sizes)
{
  std::string text;
  for (auto const size : sizes) {
    if (!text.empty()) text += ", ";
    text += std::to_string(size);
  }
  return text;
}

/// "takes 3 parameters of 8, 8, 4 bytes", "takes no parameter".
std::string describe_expected(std::span<std::size_t const> sizes)
{
  if (sizes.empty()) return "takes no parameter";
  auto const is_one_byte = sizes.size() == 1 && sizes[0] == 1;
  return detail::format("takes {} parameter{} of {} byte{}", sizes.size(),
                        sizes.size() == 1 ? "" : "s", list_of(sizes), is_one_byte ? "" : "s");
}

/// "2 of 8, 8 were given", "none was given".
std::string describe_passed(std::span<std::size_t const> sizes)
{
  if (sizes.empty()) return "none was given";
  return detail::format("{} of {} {} given", sizes.size(), list_of(sizes),
                        sizes.size() == 1 ? "was" : "were");
}

}  // namespace

void fail_use(std::string message, std::string input, std::string hint, error_code code)
{
  throw usage_error({.message = std::move(message),
                     .input = std::move(input),
                     .code = code,
                     .hint = std::move(hint)});
}

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

void check_dynamic_shared(std::string const& kernel, std::size_t bytes, std::size_t limit,
                          code_text const& code)
{
  if (bytes <= limit) return;
  throw device_error(
      stage::device,
      {.message = detail::format("kernel {}: {} bytes of dynamic shared memory are more than {}",
                                 kernel, bytes, limit),
       .input = kernel,
       .code = code,
       .hint = "use smaller blocks, or at most kernel_attributes::max_dynamic_shared_bytes"});
}

void check_same_device(device_backend const& expected, device_backend const& actual,
                       char const* object)
{
  if (is_same_device(expected, actual)) return;
  fail_use(detail::format("{} belongs to another device, {} {}, than {} {}", object,
                          to_string(actual.info().kind), actual.info().ordinal,
                          to_string(expected.info().kind), expected.info().ordinal),
           object, "create it on the device that it is used with");
}

bool is_same_device(device_backend const& a, device_backend const& b) noexcept
{
  if (&a == &b) return true;
  return a.info().kind == device_kind::gpu && b.info().kind == device_kind::gpu &&
         a.info().ordinal == b.info().ordinal;
}

void check_kernel_parameters(std::string const& kernel, std::span<std::size_t const> expected,
                             std::span<std::size_t const> actual)
{
  if (std::equal(expected.begin(), expected.end(), actual.begin(), actual.end())) return;
  throw usage_error(
      {.message = detail::format("kernel {} {}; {}", kernel, describe_expected(expected),
                                 describe_passed(actual)),
       .input = kernel,
       .code = error_code::wrong_kernel_arguments,
       .hint = "name another kernel, or pass the parameters that this one declares"});
}

}  // namespace fatlink::detail
