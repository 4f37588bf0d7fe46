// SPDX-License-Identifier: Apache-2.0
// Swaps of a live module or a live plan: read, link, load, verify, publish, in one or two tiers. A
// swap_request states what is loaded; support_callers adds what callers hold to a new version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/input.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/live_swap.hpp"
#include "fatlink/plan_call.hpp"
#include "fatlink/prepare.hpp"
#include "live/background_thread.hpp"
#include "live/versions.hpp"

namespace fatlink::detail {

/// Inputs that were read, and how long it took.
struct read_inputs {
  std::vector<input> inputs = {};
  double ms = 0;
};

/// @throws as input::find.
[[nodiscard]] read_inputs find_inputs(std::vector<std::string> const& names);

/// The arguments of a bound call, for later versions: their names and values belong to the caller
/// only until the call is bound. Threads: immutable.
class kept_arguments {
 public:
  explicit kept_arguments(std::span<call_argument const> arguments);
  kept_arguments(kept_arguments const&) = delete;
  kept_arguments& operator=(kept_arguments const&) = delete;

  [[nodiscard]] std::span<call_argument const> get() const noexcept { return arguments_; }

 private:
  std::list<std::string> names_;
  std::list<std::vector<std::byte>> values_;  ///< those that arguments do not hold themselves
  std::vector<call_argument> arguments_;
};

/// A bound call, to be bound to later versions.
struct kept_call {
  kept_call(std::span<call_argument const> call_arguments, scratch_memory const& memory)
      : arguments(call_arguments), scratch(memory)
  {
  }
  kept_arguments arguments;
  scratch_memory scratch;
};

/// What a swap links and loads.
struct swap_request {
  std::vector<input> inputs = {};
  link_options link = {};
  double read_ms = 0;
  /// Loads an image that was linked from `inputs`.
  std::function<std::unique_ptr<version_content>(linked_image)> load = {};
  /// The caller's verification; may be empty.
  std::function<void(version_content&)> verify = {};
};

/// Adds to a new version what callers hold: kernels, bound calls. Throws where it does not have it.
/// Called with the lock of swapper::lock_callers().
using support_callers = std::function<void(version_content&)>;

/// Links, loads, verifies and publishes. Threads: safe; swaps are made one after the other.
class swapper {
 public:
  /// @throws usage_error tiers for another mode than lto.
  swapper(device destination, linker links, live_settings settings, support_callers support);

  /// @throws as live_module::swap.
  swap_report swap(swap_request request);
  /// @throws as live_module::wait_for_best.
  [[nodiscard]] swap_report wait_for_best() const;

  /// The link options of a swap that states `options`.
  /// @throws usage_error as the constructor.
  [[nodiscard]] link_options options_of(std::optional<link_options> const& options) const;

  [[nodiscard]] device const& destination() const noexcept { return device_; }
  [[nodiscard]] publication& versions() noexcept { return versions_; }
  /// Held while what callers hold changes, and while a version is published. Not held during links,
  /// the load of an image, and verification.
  [[nodiscard]] std::unique_lock<std::mutex> lock_callers() { return std::unique_lock(callers_); }

 private:
  struct timed_image {
    linked_image image = {};
    double ms = 0;
  };

  [[nodiscard]] timed_image link(std::vector<input> const& inputs, link_options const& options);
  [[nodiscard]] std::optional<timed_image> link_quickly(swap_request const& request,
                                                        std::string& reason);
  swap_report publish(swap_request const& request, timed_image linked, swap_report report);
  [[nodiscard]] std::function<void()> best_job(swap_request const& request);
  void publish_best(swap_request const& request, std::uint64_t generation);

  device device_;
  linker linker_;
  live_settings settings_;
  support_callers support_;
  publication versions_;
  std::mutex callers_;
  std::mutex order_;              ///< of swaps; held by each from link to publication
  std::uint64_t generation_ = 0;  ///< of successful swaps; guarded by order_
  mutable std::mutex results_;
  swap_report newest_report_;      ///< guarded by results_
  std::exception_ptr best_error_;  ///< guarded by results_
  newest_job best_;                ///< last: it uses the other members
};

}  // namespace fatlink::detail
