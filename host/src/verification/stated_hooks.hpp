// SPDX-License-Identifier: Apache-2.0
// Whether the hooks that a sidecar states are those of its input. Threads: no shared state.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/ptx_interface.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink::detail {

/// Names of the functions in `lists` of every PTX entry of `modules`.
std::vector<std::string> names_in(
    std::span<fatbin const> modules,
    std::initializer_list<std::vector<ptx_function> ptx_interface::*> const& lists);

/// Why a sidecar is not that of an input.
struct hook_problem {
  std::string cause = {};  ///< "\"hooks\" has \"laod\", which is none of scale/1 (load, store)"
  std::string hint = {};
};

/// The first hook of `stated` that is no hook of the contract of `modules`, those of the input
/// `name`, or that no PTX of them defines or calls. Nothing where all are, or a module has no PTX.
std::optional<hook_problem> find_wrong_hook(std::span<fatbin const> modules,
                                            std::string const& name,
                                            transform_reference const& stated);

/// @throws file_error (invalid-sidecar) find_wrong_hook finds one.
void check_stated_hooks(std::span<fatbin const> modules, std::string const& name,
                        transform_reference const& stated);

}  // namespace fatlink::detail
