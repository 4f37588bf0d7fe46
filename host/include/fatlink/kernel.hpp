// SPDX-License-Identifier: Apache-2.0
// Kernels of loaded modules: launches, resources and occupancy.
// Units: bytes, threads, blocks. Ownership: a kernel keeps its module and device alive.
// Threads: a kernel may be launched by several threads, on different streams.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "fatlink/device_backend.hpp"
#include "fatlink/export.hpp"
#include "fatlink/kernel_attributes.hpp"
#include "fatlink/launch_shape.hpp"
#include "fatlink/stream.hpp"

namespace FATLINK_API fatlink {

/// A kernel whose parameter types are known only at run time. Calls on a moved-from kernel throw
/// usage_error.
class untyped_kernel {
 public:
  /// `function` is a handle of `backend`, valid while `module` exists.
  untyped_kernel(std::shared_ptr<device_backend> backend, std::shared_ptr<void> module,
                 device_backend::handle function)
      : backend_(std::move(backend)), module_(std::move(module)), function_(function)
  {
  }

  /// Sizes of the parameters in bytes, in order; valid while this kernel exists.
  [[nodiscard]] std::span<std::size_t const> parameter_sizes() const;

  /// The CUfunction, for cuLaunchKernel, graphs and other calls of the driver, with streams of the
  /// primary context; valid while any kernel or loaded_module of its module exists. Null on the
  /// reference device, which has none.
  [[nodiscard]] void* native_handle() const;

  /// The CUkernel (cudaKernel_t), for cudaLaunchKernel, cuda.core, and cuLaunchKernel after a cast
  /// to CUfunction. It runs in the context of the launch's stream, which may be a second or a green
  /// context of the GPU; variables of the image have a value in each context.
  /// Dynamic shared memory above 48 KiB needs cuKernelSetAttribute first. Valid as native_handle();
  /// null on the reference device.
  [[nodiscard]] void* native_kernel() const;

  /// The resources of the kernel. @throws device_error the query fails.
  [[nodiscard]] kernel_attributes attributes() const;

  /// How many blocks one multiprocessor can run at the same time, for blocks of `block_threads`
  /// threads with `shared_bytes` of dynamic shared memory; 0: such a block cannot run. The
  /// reference device runs one block on each core.
  /// @throws usage_error `block_threads` is 0.
  /// @throws device_error `shared_bytes` is more than kernel_attributes::max_dynamic_shared_bytes,
  ///   or the query fails.
  [[nodiscard]] unsigned active_blocks_per_multiprocessor(unsigned block_threads,
                                                          std::size_t shared_bytes = 0) const;

  /// The block size with the highest occupancy, if each block has `shared_bytes` of dynamic shared
  /// memory. @throws device_error as active_blocks_per_multiprocessor.
  [[nodiscard]] block_size_suggestion suggest_block_size(std::size_t shared_bytes = 0) const;

  /// Queues a launch with pointers to the arguments, as for cuLaunchKernel. `arguments[i]` points
  /// to the value of the i-th parameter, of parameter_sizes()[i] bytes; it is copied before the
  /// call returns. Otherwise as kernel::launch.
  /// @throws usage_error the number of pointers is not the number of parameters, or a pointer is
  ///   null.
  void launch_raw(stream_view stream, launch_shape const& shape,
                  std::span<void* const> arguments) const;

 protected:
  /// Launches without checking the arguments.
  void launch_unchecked(stream_view stream, launch_shape const& shape, void* const* arguments) const
  {
    auto& device = require_device(backend_, "the kernel");
    device.launch(function_, stream.handle_on(device), shape, arguments);
  }

 private:
  std::shared_ptr<device_backend> backend_;
  std::shared_ptr<void> module_;
  device_backend::handle function_;
};

/// A kernel with known parameter types: kernel<void(float const*, float*, std::size_t)>.
template <typename Signature>
class kernel {
  static_assert(std::is_void_v<Signature> && !std::is_void_v<Signature>,
                "state the kernel's type as a function type: "
                "kernel<void(float const*, float*, std::size_t)>");
};

/// A kernel with these parameter types; loaded_module::kernel returns it.
template <typename... Parameters>
class kernel<void(Parameters...)> : public untyped_kernel {
  static_assert((std::is_trivially_copyable_v<Parameters> && ...),
                "a kernel's parameters are copied as bytes; references and types with their own "
                "copy constructor cannot be passed");

 public:
  /// Sizes of the parameters in bytes.
  static constexpr std::array<std::size_t, sizeof...(Parameters)> k_parameter_sizes{
      sizeof(Parameters)...};

  /// `function` must have parameters of k_parameter_sizes; loaded_module::kernel checks it.
  explicit kernel(untyped_kernel function) : untyped_kernel(std::move(function)) {}

  /// Queues a launch and returns; the arguments are copied. On the reference device the launch has
  /// finished when the call returns. Dynamic shared memory above 48 KiB needs no additional call.
  /// @throws device_error the driver refuses the launch, or `shape` asks for more dynamic shared
  ///   memory than kernel_attributes::max_dynamic_shared_bytes. On the reference device also: a
  ///   thread fails; the message names kernel, thread, instruction and address.
  /// @throws usage_error `stream` belongs to another device.
  void launch(stream_view stream, launch_shape const& shape, Parameters... arguments) const
  {
    std::array<void*, sizeof...(Parameters)> const pointers{address_of(arguments)...};
    launch_unchecked(stream, shape, pointers.data());
  }

 private:
  template <typename Value>
  static void* address_of(Value& value) noexcept
  {
    return static_cast<void*>(std::addressof(value));
  }
};

}  // namespace fatlink
