// SPDX-License-Identifier: Apache-2.0
// Compares a launch plan with the kernels of its fatbin. Needs neither CUDA nor a GPU.
// Threads: no shared state.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/input.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink::detail {

struct plan_check {
  /// The entries of the link that is checked; nothing: every entry with PTX or SASS.
  std::optional<entry_choice> choice = {};
  /// The type that the transform binds to "element". Arguments of it are not compared without.
  std::optional<element_type> element = {};
};

/// Findings plan-mismatch (errors): a launch whose kernel none of `modules` has, or which passes
/// another number of arguments than the kernel takes, or one of another size. At most one for each
/// launch. A kernel that is not found is no finding if a module has LTO-IR without PTX. And those
/// of check_plan_hooks.
/// @throws format_error an entry is damaged.
std::vector<finding> check_plan(launch_plan const& plan, std::span<fatbin const> modules,
                                plan_check const& request = {});

/// Findings plan-mismatch (errors): a launch passes an array of integers of 4 or 8 bytes, and the
/// PTX of the kernel accesses it as floats only. Reads the code of the kernels: for checks before a
/// run, not for each call of a program.
/// @throws format_error an entry is damaged.
std::vector<finding> check_array_types(launch_plan const& plan, std::span<fatbin const> modules);

/// A finding plan-mismatch, if launches[index] does not pass what the loaded kernel takes: as many
/// arguments as `sizes`, of these bytes. For kernels whose parameters no module shows, as those of
/// LTO-IR. Arguments whose type is not bound are not compared.
std::optional<finding> check_loaded_launch(launch_plan const& plan, std::size_t index,
                                           std::span<std::size_t const> sizes);

/// "reduce_tiles(in: pointer, n: uint64, init: element, uint32)".
std::string launch_signature(launch_plan const& plan, plan_launch const& launch);

/// The plan that the sidecar beside the file of `library` states.
/// @throws file_error there is none, or as launch_plan::beside.
[[nodiscard]] launch_plan library_plan(input const& library);

/// The kernels that a link of `inputs`, the library first, keeps for `plan`: those that it
/// launches; none, which keeps all, if the inputs have no other. The link is that of linker::link
/// then, so that the cache has one entry for both.
[[nodiscard]] std::vector<std::string> kernels_to_keep(launch_plan const& plan,
                                                       std::vector<input> const& inputs);

/// Findings plan-mismatch (errors): "computes" or "hook" of an argument names what is neither a
/// hook of a contract of `modules` nor a function that their PTX calls or defines. Nothing if a
/// module has LTO-IR without PTX, which does not show its functions.
/// @throws format_error an entry is damaged.
std::vector<finding> check_plan_hooks(launch_plan const& plan, std::span<fatbin const> modules);

/// Findings element-mismatch (errors): an input records other elements of a hook than the plan
/// states for the arrays that the hook handles, or two inputs record different ones where the plan
/// has one type. `modules`: the library's first, then those of the transforms.
std::vector<finding> check_elements(launch_plan const& plan, std::span<fatbin const> modules);

}  // namespace fatlink::detail
