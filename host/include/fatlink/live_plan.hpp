// SPDX-License-Identifier: Apache-2.0
// A launch plan whose device code can be replaced while it is being called:
//
//   fatlink::live_plan live(*gpu, linker);
//   live.swap_files({"reduce_4", "add_float32"});
//   auto const call = live.bind({{"in", d_in}, {"out", d_out}, {"n", n}, {"init", 0.0F}}, scratch);
//   call.run(stream);                                  // a sum
//   live.swap_files({"reduce_4", "max_float32"});
//   call.run(stream);                                  // the largest element
//
// Versions are published, used and unloaded as those of a live module (live_module.hpp). A call
// uses one version for all launches of the plan.
//
// A new version may have other launches, formulas and scratch arrays than the one before. It is
// refused, so that no call becomes wrong, if
//   - its plan has other arguments than the first version's: by name, role, type of the elements,
//     number of dimensions, or whether there is a default; scratch arrays are not compared;
//   - a bound call that still exists cannot be bound to it: an array or the scratch memory is too
//     small for it, not aligned as it needs, or overlaps another array.
// Sizes that are not yet bound cannot be checked: run() with scratch memory of the caller throws if
// the version that is published then needs more. Bind the call, or let run() allocate the memory.
//
// Ownership, threads, fork: as live_module.hpp.
#pragma once

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
#include "fatlink/linker.hpp"
#include "fatlink/live_swap.hpp"
#include "fatlink/plan_call.hpp"
#include "fatlink/prepare.hpp"

namespace FATLINK_API fatlink {

/// What one swap of a plan does otherwise than live_settings state.
struct plan_swap_options {
  /// How to link; none: as live_settings state. Without `kernels`, those of the plan are kept.
  std::optional<fatlink::link_options> link = {};
  /// The plan; none: that of the sidecar that the first input was read with.
  std::optional<launch_plan> plan = {};
  /// Called with the new version before it is published, in a tiered swap with each of the two.
  /// What it throws ends the swap. It may call plans, also this live plan, but not swap, and waits
  /// for what it calls in the new version.
  std::function<void(prepared_plan const&)> verify = {};
};

/// A call of a live plan whose arguments are fixed. Copies are the same call.
class live_bound_plan {
 public:
  /// Queues the launches of the published version on `stream`.
  /// Throws as bound_plan::run; usage_error the call was moved from.
  void run(stream_view stream) const;

 private:
  friend class live_plan;
  struct FATLINK_PRIVATE state;
  explicit live_bound_plan(std::shared_ptr<state const> contents) : state_(std::move(contents)) {}
  std::shared_ptr<state const> state_;
};

/// A prepared plan that can be replaced. Copies are the same plan. Calls on a moved-from live plan
/// throw usage_error.
class live_plan {
 public:
  /// Has no version yet. Copies of `linker` share its helpers and its cache.
  /// @throws usage_error `settings` ask for tiers and for another mode than lto.
  explicit live_plan(device const& destination, linker linker, live_settings settings = {});

  /// Links `inputs`, the library first, prepares its plan, binds every bound call that exists,
  /// calls options.verify, and publishes the version. If it throws, nothing has changed.
  /// Throws as linker::link, prepare, and what options.verify throws.
  /// @throws refused_error plan-mismatch: the plan has other arguments than the first version's.
  /// @throws usage_error, file_error a bound call cannot be bound, or options.link are for another
  ///   mode than lto in a tiered live plan.
  swap_report swap(std::vector<input> const& inputs, plan_swap_options const& options = {});

  /// The same, of inputs by name or file. Throws also as input::find.
  swap_report swap_files(std::vector<std::string> const& inputs,
                         plan_swap_options const& options = {});

  /// The published version's plan. @throws usage_error no version is published.
  [[nodiscard]] launch_plan plan() const;
  /// The number of the published version. @throws usage_error there is none.
  [[nodiscard]] std::uint64_t version() const;

  /// As prepared_plan::extents, of the published version: a later one may have others.
  /// Throws as prepared_plan::extents; usage_error no version is published.
  [[nodiscard]] plan_extents extents(std::span<call_argument const> sizes) const;
  /// The same.
  [[nodiscard]] plan_extents extents(std::initializer_list<call_argument> sizes) const
  {
    return extents(std::span(sizes.begin(), sizes.size()));
  }

  /// As prepared_plan::scratch_bytes, of the published version: a later one may need more.
  /// Throws as prepared_plan::scratch_bytes; usage_error no version is published.
  [[nodiscard]] std::size_t scratch_bytes(std::span<call_argument const> sizes) const;
  /// The same.
  [[nodiscard]] std::size_t scratch_bytes(std::initializer_list<call_argument> sizes) const
  {
    return scratch_bytes(std::span(sizes.begin(), sizes.size()));
  }

  /// As prepared_plan::run, of the published version.
  /// Throws as prepared_plan::run; usage_error no version is published.
  void run(stream_view stream, std::span<call_argument const> arguments,
           scratch_memory const& scratch = {}) const;
  /// The same.
  void run(stream_view stream, std::initializer_list<call_argument> arguments,
           scratch_memory const& scratch = {}) const
  {
    run(stream, std::span(arguments.begin(), arguments.size()), scratch);
  }

  /// As prepared_plan::bind. Values are copied; the arrays and the scratch memory live as long as
  /// the bound call, which later versions are bound to.
  /// Throws as prepared_plan::bind; usage_error no version is published.
  [[nodiscard]] live_bound_plan bind(std::span<call_argument const> arguments,
                                     scratch_memory const& scratch = {}) const;
  /// The same.
  [[nodiscard]] live_bound_plan bind(std::initializer_list<call_argument> arguments,
                                     scratch_memory const& scratch = {}) const
  {
    return bind(std::span(arguments.begin(), arguments.size()), scratch);
  }

  /// As live_module::wait_for_best.
  /// Throws as live_module::wait_for_best.
  swap_report wait_for_best() const;

 private:
  friend class live_bound_plan;
  struct FATLINK_PRIVATE state;
  [[nodiscard]] FATLINK_PRIVATE state& contents() const;

  std::shared_ptr<state> state_;
};

}  // namespace fatlink
