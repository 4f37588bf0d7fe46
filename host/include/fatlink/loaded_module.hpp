// SPDX-License-Identifier: Apache-2.0
// A linked image that is loaded on a device, with its kernels and variables.
// Ownership: the image is unloaded with the last of its loaded_module objects, kernels and
// variables.
// Threads: safe.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "fatlink/buffer.hpp"
#include "fatlink/device_backend.hpp"
#include "fatlink/export.hpp"
#include "fatlink/image.hpp"
#include "fatlink/kernel.hpp"

namespace FATLINK_API fatlink {

/// A loaded image. Calls on a moved-from module throw usage_error.
class loaded_module {
 public:
  /// Loads an image. Throws as device::load.
  loaded_module(std::shared_ptr<device_backend> backend, linked_image const& image);

  /// The kernel with this name and type, for example `kernel<void(float const*, float*,
  /// std::size_t)>("apply_transform")`. This call, not the launch, compares the number and sizes of
  /// the parameters with the kernel's. It cannot distinguish types of the same size.
  /// @throws file_error (stage device) the image has no kernel with this name.
  /// @throws unavailable_error, link_error (reference device) the kernel, or a function that it may
  ///   call, has an instruction that this device does not support, or that no device executes.
  /// @throws usage_error the kernel has different parameters; the message shows both lists of
  ///   sizes.
  template <typename Signature>
  [[nodiscard]] fatlink::kernel<Signature> kernel(std::string const& name) const
  {
    using typed_kernel = fatlink::kernel<Signature>;
    return typed_kernel(find_kernel(name, typed_kernel::k_parameter_sizes));
  }
  /// As above. @throws usage_error also if `name` is null.
  template <typename Signature>
  [[nodiscard]] fatlink::kernel<Signature> kernel(char const* name) const
  {
    return kernel<Signature>(required_name(name));
  }

  /// The kernel with this name, for launches with pointers to the arguments.
  /// @throws file_error (stage device) the image has no kernel with this name.
  /// @throws unavailable_error, link_error (reference device) as kernel().
  [[nodiscard]] untyped_kernel find_kernel(std::string const& name) const;

  /// The `__device__` or `__constant__` variable with this name, as a buffer that can be read and
  /// written. C++ names are mangled unless the variable is extern "C" or in the global namespace. A
  /// link in lto mode may remove a variable that no kernel uses.
  /// @throws file_error (stage device) the image has no variable with this name.
  /// @throws usage_error its size is not a multiple of sizeof(T).
  template <typename T>
  [[nodiscard]] device_buffer<T> global(std::string const& name) const
  {
    auto const variable = find_variable(name);
    auto const count = variable_elements(name, variable.bytes, sizeof(T));
    return {backend_, count,
            std::shared_ptr<device_address>(
                new device_address(variable.address),
                [module = handle_](device_address const* address) { delete address; })};
  }

  /// The CUlibrary (cudaLibrary_t), for cuLibraryGetKernel and other calls of the driver and of the
  /// CUDA runtime; valid while any loaded_module, kernel or variable of this image exists. Do not
  /// unload it. Null on the reference device, which has none.
  [[nodiscard]] void* native_handle() const;

 private:
  static std::string required_name(char const* name);
  /// @throws usage_error the kernel has parameters of other sizes.
  [[nodiscard]] untyped_kernel find_kernel(std::string const& name,
                                           std::span<std::size_t const> parameter_sizes) const;
  [[nodiscard]] device_variable find_variable(std::string const& name) const;

  std::shared_ptr<device_backend> backend_;
  std::shared_ptr<void> handle_;
};

}  // namespace fatlink
