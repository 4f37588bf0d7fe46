// SPDX-License-Identifier: Apache-2.0
// Compares what sidecars state of hooks with the code of their inputs and with a launch plan,
// without running anything.
// Threads: no shared state.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/finding.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/ptx_interface.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink::detail {

/// Findings plan-mismatch (errors): a reference has another number of parameters than the plan's
/// "computes" passes, or names a field that its types do not have. `plan` has the types that the
/// transforms bind; what uses an argument without a type is not compared. `references`: as
/// plan_reference takes them.
std::vector<finding> check_references(launch_plan const& plan,
                                      std::vector<transform_reference> const& references);

/// Names of the functions in `lists` of every PTX entry of `modules`.
std::vector<std::string> names_in(
    std::span<fatbin const> modules,
    std::initializer_list<std::vector<ptx_function> ptx_interface::*> const& lists);

/// Why a sidecar is not that of an input.
struct hook_error {
  std::string cause = {};  ///< "\"hooks\" has \"laod\", which is none of scale/1 (load, store)"
  std::string hint = {};
};

/// The first hook of `stated` that is no hook of the contract of `modules`, those of the input
/// `name`, or that no PTX of them defines or calls. Nothing where all are, or a module has no PTX.
std::optional<hook_error> find_wrong_hook(std::span<fatbin const> modules, std::string const& name,
                                          transform_reference const& stated);

/// @throws file_error (invalid-sidecar) find_wrong_hook finds one.
void check_stated_hooks(std::span<fatbin const> modules, std::string const& name,
                        transform_reference const& stated);

}  // namespace fatlink::detail
