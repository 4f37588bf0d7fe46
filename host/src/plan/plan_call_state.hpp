// SPDX-License-Identifier: Apache-2.0
// One call of a plan: its arguments are matched and checked, its formulas computed, its launches
// queued, some of which may overlap the launch before them. The memory of a call is used again by
// the next one. Units: elements, bytes. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/plan_call.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/prepare.hpp"
#include "plan/plan_program.hpp"
#include "plan/plan_values.hpp"

namespace fatlink::detail {

/// An array or a state in a device's memory.
struct array_place {
  device_address address = 0;
  std::size_t bytes = 0;
};

class plan_call_state {
 public:
  explicit plan_call_state(plan_program const& program);
  plan_call_state(plan_call_state const&) = delete;
  plan_call_state& operator=(plan_call_state const&) = delete;

  /// Sets the arguments of a call and computes its formulas. Scratch arrays have no address yet.
  /// @throws as prepared_plan::run.
  void set(std::span<call_argument const> arguments);

  /// Sets only the sizes, for scratch_bytes(); other arguments are checked by name alone.
  void set_sizes(std::span<call_argument const> arguments);

  /// The memory of all scratch arrays, each aligned to 256 bytes.
  /// @throws file_error (code invalid-plan) more than 2^63 - 1 bytes.
  [[nodiscard]] std::size_t scratch_bytes() const;

  /// Of all arrays, and the depths that the plan states.
  [[nodiscard]] plan_extents extents() const;

  /// @throws usage_error `scratch` is too small, null, not aligned, or overlaps an array of the
  ///   call.
  void check_scratch(scratch_memory const& scratch) const;

  /// Divides memory of at least scratch_bytes() among the scratch arrays.
  void set_scratch(device_address address);

  /// Queues the launches. @throws device_error as prepared_plan::run.
  void launch(stream_view stream) const;

 private:
  /// The names of the states that hooks get as a null pointer.
  [[nodiscard]] std::vector<std::string> null_states() const;
  void point_at_values();
  void match(std::span<call_argument const> arguments);
  void set_value(std::size_t index, call_argument const& given);
  void set_size(std::size_t index, call_argument const& given);
  void use_defaults();
  [[nodiscard]] bool find_stated_extents();
  void find_missing_sizes();
  void check_arrays() const;
  void check_overlaps() const;
  [[nodiscard]] array_place place_of(std::size_t index) const;

  plan_program const& program_;
  std::vector<call_argument const*> given_;     ///< by argument; null: not given
  std::vector<std::int64_t> sizes_;             ///< as formulas.sizes
  std::vector<bool> has_size_;                  ///< as formulas.sizes
  std::vector<device_address> addresses_;       ///< by argument
  std::vector<std::vector<std::byte>> values_;  ///< by argument, of type.size bytes
  plan_values computed_;
  std::vector<std::vector<void*>> pointers_;  ///< of each launch, as cuLaunchKernel takes them
};

/// Clears `overlap` of launches whose kernel is linked from an entry for less than sm_90, whose
/// code cannot wait by griddepcontrol.wait, or from one whose kernels cannot be seen.
/// @throws format_error an entry is damaged.
void clear_unsafe_overlaps(launch_plan& plan, std::span<fatbin const> modules,
                           entry_choice const& choice);

/// Whether launch `index` overlaps what is queued before it: it states so, and an earlier launch of
/// this call, with `values`, is made, or the first launch of the plan states it, too.
bool overlaps(launch_plan const& plan, plan_values const& values, std::size_t index);

/// `failure`, thrown again; where device code used a null pointer and the call left out states,
/// with a hint that names them. A GPU reports such an access later, and not its address.
[[noreturn]] void rethrow_with_states(device_error const& failure,
                                      std::span<std::string const> null_states);

}  // namespace fatlink::detail
