// SPDX-License-Identifier: Apache-2.0
// Live plans: launch plans whose device code can be replaced while it is in use.
//
//   fatlink::live_plan live(*gpu, linker);
//   live.swap_files({"reduce_4", "add_float32"});
//   auto const call = live.bind({{"in", d_in}, {"out", d_out}, {"n", n}, {"init", 0.0F}}, scratch);
//   call.run(stream);                                  // a sum
//   live.swap_files({"reduce_4", "max_float32"});
//   call.run(stream);                                  // the largest element
//
// Versions are published, used and unloaded as in a live module (live_module.hpp). A call uses one
// version for all launches of the plan.
//
// A new version may have different launches, formulas and scratch arrays. A swap refuses a new
// version that would make existing calls invalid, that is, if
//   - an argument of its plan differs from that of the first version in name, role, element type,
//     number of dimensions, or whether it has a default (scratch arrays are not compared);
//   - an existing bound call cannot be bound to the new version, because an array or the scratch
//     memory is too small, not aligned, or overlaps another array.
// The sizes of later calls cannot be checked by the swap: run() with scratch memory of the caller
// throws if the published version needs more memory. To avoid this, bind the call, or let run()
// allocate the memory.
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

/// Options of one swap of a plan, which override live_settings.
struct plan_swap_options {
  /// How to link; none: as in live_settings. If `kernels` is empty, the kernels of the plan are
  /// kept.
  std::optional<fatlink::link_options> link = {};
  /// The plan; none: the one in the sidecar of the first input.
  std::optional<launch_plan> plan = {};
  /// Called with the new version before it is published; a tiered swap calls it for each of its two
  /// versions. If it throws, the swap fails with that exception. It may call plans, including this
  /// live plan, but must not swap. It must wait for its calls of the new version.
  std::function<void(prepared_plan const&)> verify = {};
};

/// A call of a live plan with fixed arguments. Copies refer to the same call.
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

/// A prepared plan that can be replaced. Copies refer to the same plan. Calls on a moved-from live
/// plan throw usage_error.
class live_plan {
 public:
  /// Creates a live plan without a version. Copies of `linker` share its helpers and its cache.
  /// @throws usage_error `settings` combine tiers with a mode other than lto.
  explicit live_plan(device const& destination, linker linker, live_settings settings = {});

  /// Links `inputs`, the library first, prepares its plan, binds every existing bound call to it,
  /// calls options.verify, and publishes the version. If it throws, nothing has changed.
  /// Throws as linker::link, prepare, and what options.verify throws.
  /// @throws refused_error plan-mismatch: the plan's arguments differ from the first version's.
  /// @throws usage_error, file_error a bound call cannot be bound, or options.link has a mode other
  ///   than lto in a tiered live plan.
  swap_report swap(std::vector<input> const& inputs, plan_swap_options const& options = {});

  /// As above, for inputs by name or file. Throws also as input::find.
  swap_report swap_files(std::vector<std::string> const& inputs,
                         plan_swap_options const& options = {});

  /// The published version's plan. @throws usage_error no version is published.
  [[nodiscard]] launch_plan plan() const;
  /// The number of the published version. @throws usage_error there is none.
  [[nodiscard]] std::uint64_t version() const;

  /// As prepared_plan::extents, for the published version; later versions may have other extents.
  /// Throws as prepared_plan::extents; usage_error no version is published.
  [[nodiscard]] plan_extents extents(std::span<call_argument const> sizes) const;
  /// As above.
  [[nodiscard]] plan_extents extents(std::initializer_list<call_argument> sizes) const
  {
    return extents(std::span(sizes.begin(), sizes.size()));
  }

  /// As prepared_plan::scratch_bytes, for the published version; later versions may need more.
  /// Throws as prepared_plan::scratch_bytes; usage_error no version is published.
  [[nodiscard]] std::size_t scratch_bytes(std::span<call_argument const> sizes) const;
  /// As above.
  [[nodiscard]] std::size_t scratch_bytes(std::initializer_list<call_argument> sizes) const
  {
    return scratch_bytes(std::span(sizes.begin(), sizes.size()));
  }

  /// As prepared_plan::run, for the published version.
  /// Throws as prepared_plan::run; usage_error no version is published.
  void run(stream_view stream, std::span<call_argument const> arguments,
           scratch_memory const& scratch = {}) const;
  /// As above.
  void run(stream_view stream, std::initializer_list<call_argument> arguments,
           scratch_memory const& scratch = {}) const
  {
    run(stream, std::span(arguments.begin(), arguments.size()), scratch);
  }

  /// As prepared_plan::bind. Values are copied. The arrays and the scratch memory must live as long
  /// as the bound call, because later versions are bound to them.
  /// Throws as prepared_plan::bind; usage_error no version is published.
  [[nodiscard]] live_bound_plan bind(std::span<call_argument const> arguments,
                                     scratch_memory const& scratch = {}) const;
  /// As above.
  [[nodiscard]] live_bound_plan bind(std::initializer_list<call_argument> arguments,
                                     scratch_memory const& scratch = {}) const
  {
    return bind(std::span(arguments.begin(), arguments.size()), scratch);
  }

  /// As live_module::wait_for_best, with the same exceptions.
  swap_report wait_for_best() const;

 private:
  friend class live_bound_plan;
  struct FATLINK_PRIVATE state;
  [[nodiscard]] FATLINK_PRIVATE state& contents() const;

  std::shared_ptr<state> state_;
};

}  // namespace fatlink
