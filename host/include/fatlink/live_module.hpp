// SPDX-License-Identifier: Apache-2.0
// Live modules: device code that can be replaced while it is in use.
//
//   fatlink::live_module live(*device, linker);
//   live.swap({library, gelu});
//   auto const apply = live.kernel<void(float const*, float*, std::size_t)>("apply_transform");
//   apply.launch(stream, shape, in, out, n);   // gelu
//   live.swap({library, softsign});            // until it returns, launches use gelu
//   apply.launch(stream, shape, in, out, n);   // softsign
//
// A swap links and loads its inputs, and publishes the result as a new version. A launch uses the
// version that is published at the time of the call. A swap that fails changes nothing. A replaced
// version is unloaded when the device has finished the last launch that used it. For this, an event
// is recorded after each launch, and a thread of the live module polls the events; no stream and no
// device is synchronized. A launch that is captured into a CUDA graph keeps its version loaded
// until the process ends.
//
// Launches take no lock that fatlink holds during a link, load or unload. The CUDA driver has its
// own locks, and may make launches wait while it loads or unloads a module. Kernels are loaded
// completely before their version is published, even with CUDA_MODULE_LOADING=LAZY.
//
// Ownership: copies of a live module and its kernels share one state. The destructor of the last of
// these objects waits until the device has finished all launches, and until the second link of a
// tiered swap (live_settings::tiered) has ended. It then unloads all versions.
// Threads: safe; several threads may launch, on different streams, and swap. Swaps run one after
// the other.
// Fork: a child process must not use a live module of its parent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/export.hpp"
#include "fatlink/input.hpp"
#include "fatlink/kernel.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/live_swap.hpp"
#include "fatlink/loaded_module.hpp"

namespace FATLINK_API fatlink {

/// Options of one swap, which override live_settings.
struct swap_options {
  /// How to link; none: as in live_settings.
  std::optional<fatlink::link_options> link = {};
  /// Called with the new version before it is published; a tiered swap calls it for each of its two
  /// versions. If it throws, the swap fails with that exception. It may launch kernels, including
  /// those of the live module, but must not swap. It must wait for its launches of the new version.
  std::function<void(loaded_module const&)> verify = {};
};

/// The published version, as live_module::current() returns it.
struct live_version {
  std::uint64_t number = 0;  ///< the number, as in swap_report
  loaded_module module;      ///< the module; while it exists, the version stays loaded
};

/// A kernel of a live module whose parameter types are known only at run time.
class untyped_live_kernel {
 public:
  /// Queues a launch of the kernel in the published version. Otherwise as
  /// untyped_kernel::launch_raw.
  /// @throws usage_error as untyped_kernel::launch_raw, or the kernel was moved from.
  /// @throws device_error as kernel::launch.
  void launch_raw(stream_view stream, launch_shape const& shape,
                  std::span<void* const> arguments) const;
  /// The size of each parameter in bytes, the same in every version.
  /// @throws usage_error the kernel was moved from.
  [[nodiscard]] std::span<std::size_t const> parameter_sizes() const;

 private:
  friend class live_module;
  struct FATLINK_PRIVATE state;
  [[nodiscard]] FATLINK_PRIVATE state const& contents() const;
  explicit untyped_live_kernel(std::shared_ptr<state const> contents) : state_(std::move(contents))
  {
  }
  std::shared_ptr<state const> state_;
};

/// A kernel with known parameter types: live_kernel<void(float const*, float*, std::size_t)>.
template <typename Signature>
class live_kernel;

/// A kernel with these parameter types; live_module::kernel returns it.
template <typename... Parameters>
class live_kernel<void(Parameters...)> : public untyped_live_kernel {
 public:
  /// `kernel` must have these parameters; live_module::kernel checks it.
  explicit live_kernel(untyped_live_kernel kernel) : untyped_live_kernel(std::move(kernel)) {}

  /// Queues a launch of the kernel in the published version and returns. Otherwise as
  /// kernel::launch.
  /// @throws usage_error, device_error as kernel::launch.
  void launch(stream_view stream, launch_shape const& shape, Parameters... arguments) const
  {
    std::array<void*, sizeof...(Parameters)> const pointers{address_of(arguments)...};
    launch_raw(stream, shape, pointers);
  }

 private:
  template <typename Value>
  static void* address_of(Value& value) noexcept
  {
    return static_cast<void*>(std::addressof(value));
  }
};

/// A module that can be replaced. Copies refer to the same module. Calls on a moved-from live
/// module throw usage_error.
class live_module {
 public:
  /// Creates a live module without a version. Copies of `linker` share its helpers and its cache.
  /// @throws usage_error `settings` combine tiers with a mode other than lto.
  explicit live_module(device const& destination, linker linker, live_settings settings = {});

  /// Links `inputs`, the library first, loads the image, looks up every kernel that kernel() has
  /// returned, calls options.verify, and publishes the version. If it throws, nothing has changed.
  /// Throws as linker::link, device::load, and what options.verify throws.
  /// @throws file_error the image lacks a kernel that kernel() has returned.
  /// @throws usage_error such a kernel has different parameters in the image, or options.link has a
  ///   mode other than lto in a tiered live module.
  swap_report swap(std::vector<input> const& inputs, swap_options const& options = {});

  /// As above, for inputs by name or file. Throws also as input::find.
  swap_report swap_files(std::vector<std::string> const& inputs, swap_options const& options = {});

  /// Returns the kernel with this name. Each launch uses the version that is published at the time
  /// of the launch. Every later version must contain the kernel, with parameters of the same sizes.
  /// @throws usage_error no version is published; or as loaded_module::kernel.
  /// @throws file_error, unavailable_error, link_error as loaded_module::kernel.
  template <typename Signature>
  [[nodiscard]] live_kernel<Signature> kernel(std::string const& name) const
  {
    return live_kernel<Signature>(find_kernel(name, fatlink::kernel<Signature>::k_parameter_sizes));
  }

  /// As above, for launches with pointers to the arguments.
  /// @throws usage_error no version is published. Throws as loaded_module::find_kernel.
  [[nodiscard]] untyped_live_kernel find_kernel(std::string const& name) const;

  /// The published version. @throws usage_error there is none.
  [[nodiscard]] live_version current() const;

  /// Waits until no second link of a tiered swap is in progress, and returns the report of the
  /// version that was published last. Must not be called from live_settings::on_best. If the second
  /// link of the last tiered swap failed, throws its exception, unless a later swap has succeeded;
  /// the version of the first link stays published.
  /// @throws usage_error no version is published.
  swap_report wait_for_best() const;

 private:
  friend class untyped_live_kernel;
  struct FATLINK_PRIVATE state;
  [[nodiscard]] untyped_live_kernel find_kernel(std::string const& name,
                                                std::span<std::size_t const> parameter_sizes) const;
  [[nodiscard]] FATLINK_PRIVATE state& contents() const;

  std::shared_ptr<state> state_;
};

}  // namespace fatlink
