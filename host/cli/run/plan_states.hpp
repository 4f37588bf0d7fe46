// SPDX-License-Identifier: Apache-2.0
// The states of a plan's run: the bytes that --state and --set state.FIELD state, or the defaults
// of the sidecars. Threads: no shared state.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fatlink/launch_plan.hpp"
#include "run/bind_plan.hpp"
#include "run/plan_arguments.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink::cli {

/// @throws usage_error always: the value of --set for the argument `name` is none of its type.
[[noreturn]] void fail_value(std::string const& name, std::string const& cause);

/// The transform whose hook a state is for; null if none states a state.
transform_reference const* owner_of(plan_argument const& state,
                                    std::vector<transform_reference> const& transforms);

/// The bytes of the state `argument`; empty: null.
/// @throws usage_error a file of another size than the state, or for a hook that has none; an
///   unknown field, or a value that is not of its type. @throws file_error the file.
std::vector<std::byte> state_of(plan_argument const& argument, plan_arguments const& arguments,
                                plan_references const& references);

}  // namespace fatlink::cli
