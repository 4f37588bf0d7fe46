// SPDX-License-Identifier: Apache-2.0
// Device code that can be replaced while it is being launched:
//
//   fatlink::live_module live(*device, linker);
//   live.swap({library, gelu});
//   auto const apply = live.kernel<void(float const*, float*, std::size_t)>("apply_transform");
//   apply.launch(stream, shape, in, out, n);   // gelu
//   live.swap({library, softsign});            // meanwhile, launches go on with gelu
//   apply.launch(stream, shape, in, out, n);   // softsign
//
// A swap links and loads its inputs, and publishes them as a new version. A launch uses the version
// that is published when it is called. A swap that fails changes nothing. A version that was
// replaced is unloaded when the device has finished the last launch that used it: each launch
// records an event behind itself, which a thread of the live module asks for; no stream and no
// device is synchronized. A launch that is captured into a CUDA graph keeps its version loaded
// until the process ends.
//
// The launch path takes no lock that a link, load or unload holds. The CUDA driver has locks of its
// own, and may make launches wait while it loads or unloads a module. Kernels are loaded completely
// before their version is published, also with CUDA_MODULE_LOADING=LAZY.
//
// Ownership: a live module shares its state with its kernels; the last of them unloads all versions
// and waits until the device has finished their work. A tiered swap's second link that has begun is
// waited for, too. Threads: safe; several threads may launch, on different streams, and swap: swaps
// are made one after the other. Fork: a child process must not use a live module of its parent.
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

/// What one swap does otherwise than live_settings state.
struct swap_options {
  /// How to link; none: as live_settings state.
  std::optional<fatlink::link_options> link = {};
  /// Called with the new version before it is published, in a tiered swap with each of the two.
  /// What it throws ends the swap. It may launch, also kernels of the live module, but not swap,
  /// and waits for what it launches in the new version.
  std::function<void(loaded_module const&)> verify = {};
};

/// The version that is published.
struct live_version {
  std::uint64_t number = 0;  ///< as in swap_report
  loaded_module module;      ///< keeps the version loaded
};

/// A kernel of a live module whose parameter types are known at run time only.
class untyped_live_kernel {
 public:
  /// Queues a launch of the published version's kernel. Otherwise as untyped_kernel::launch_raw.
  /// @throws usage_error as untyped_kernel::launch_raw, or the kernel was moved from.
  /// @throws device_error as kernel::launch.
  void launch_raw(stream_view stream, launch_shape const& shape,
                  std::span<void* const> arguments) const;
  /// Bytes of each parameter, the same in every version.
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

/// A kernel of known parameters: live_kernel<void(float const*, float*, std::size_t)>.
template <typename Signature>
class live_kernel;

/// A kernel with these parameters; live_module::kernel returns it.
template <typename... Parameters>
class live_kernel<void(Parameters...)> : public untyped_live_kernel {
 public:
  /// `kernel` must have these parameters; live_module::kernel checks it.
  explicit live_kernel(untyped_live_kernel kernel) : untyped_live_kernel(std::move(kernel)) {}

  /// Queues a launch of the published version's kernel and returns. Otherwise as kernel::launch.
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

/// A module that can be replaced. Copies are the same module. Calls on a moved-from live module
/// throw usage_error.
class live_module {
 public:
  /// Has no version yet. Copies of `linker` share its helpers and its cache.
  /// @throws usage_error `settings` ask for tiers and for another mode than lto.
  explicit live_module(device const& destination, linker linker, live_settings settings = {});

  /// Links `inputs`, the library first, loads the image, looks up every kernel that kernel() has
  /// given, calls options.verify, and publishes the version. If it throws, nothing has changed.
  /// Throws as linker::link, device::load, and what options.verify throws.
  /// @throws file_error the image lacks a kernel that kernel() has given.
  /// @throws usage_error that kernel has other parameters now, or options.link are for another mode
  ///   than lto in a tiered live module.
  swap_report swap(std::vector<input> const& inputs, swap_options const& options = {});

  /// The same, of inputs by name or file. Throws also as input::find.
  swap_report swap_files(std::vector<std::string> const& inputs, swap_options const& options = {});

  /// A kernel by name, to be launched in the version that is published then. A later swap must have
  /// it, with parameters of the same sizes.
  /// @throws usage_error no version is published, or as loaded_module::kernel.
  /// @throws file_error, unavailable_error, link_error as loaded_module::kernel.
  template <typename Signature>
  [[nodiscard]] live_kernel<Signature> kernel(std::string const& name) const
  {
    return live_kernel<Signature>(find_kernel(name, fatlink::kernel<Signature>::k_parameter_sizes));
  }

  /// The same, to be launched with pointers to its arguments.
  /// @throws usage_error no version is published. Throws as loaded_module::find_kernel.
  [[nodiscard]] untyped_live_kernel find_kernel(std::string const& name) const;

  /// The published version. @throws usage_error there is none.
  [[nodiscard]] live_version current() const;

  /// Waits until no second link of a tiered swap is in progress, and returns the report of the
  /// version that was published last. Not to be called by live_settings::on_best.
  /// @throws usage_error no version is published. Throws what the second link of the last tiered
  ///   swap threw, unless a swap has succeeded since; the first link's version stays published.
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
