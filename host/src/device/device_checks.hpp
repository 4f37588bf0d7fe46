// SPDX-License-Identifier: Apache-2.0
// What the objects of any device share: errors of calls that are wrong whatever the device; checks
// of images, kernels' parameters, dynamic shared memory, and whether objects are of one device;
// handles of a backend. Units: bytes. Threads: safe.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "fatlink/device_backend.hpp"
#include "fatlink/device_info.hpp"
#include "fatlink/error.hpp"
#include "fatlink/image.hpp"

namespace fatlink::detail {

/// @throws usage_error always. `input`: the object or value at fault.
[[noreturn]] void fail_use(std::string message, std::string input, std::string hint,
                           error_code code = error_code::invalid_argument);

/// @throws device_error (code invalid-image) the device of `info` does not load images of this
///   kind: a GPU loads cubins, the reference device PTX and sets of PTX.
void check_image_kind(device_info const& info, linked_image const& image);

/// @throws device_error (`code`) a launch of `kernel` asks for more than `limit`.
void check_dynamic_shared(std::string const& kernel, std::size_t bytes, std::size_t limit,
                          code_text const& code);

/// True also for two backends of one GPU: both use its primary context.
bool is_same_device(device_backend const& a, device_backend const& b) noexcept;

/// @throws usage_error they are different devices; `object` ("the stream") is for the message.
void check_same_device(device_backend const& expected, device_backend const& actual,
                       char const* object);

/// Compares the parameters of a kernel with those that launches pass.
/// @throws usage_error the counts or a size differ; the message has both lists.
void check_kernel_parameters(std::string const& kernel, std::span<std::size_t const> expected,
                             std::span<std::size_t const> actual);

/// Owns `handle`, which `destroy` releases with its last owner, and keeps `backend` alive.
inline std::shared_ptr<void> own_handle(
    std::shared_ptr<device_backend> const& backend, device_backend::handle handle,
    void (device_backend::*destroy)(device_backend::handle) noexcept)
{
  return {handle,
          [backend, destroy](device_backend::handle owned) { ((*backend).*destroy)(owned); }};
}

}  // namespace fatlink::detail
