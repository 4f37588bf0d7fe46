// SPDX-License-Identifier: Apache-2.0
// An example of a sidecar for a transform that has none, which `fatlink run` prints where nothing
// states what a hook computes. Threads: no shared state.
#pragma once

#include <set>
#include <string>

#include "fatlink/launch_plan.hpp"

namespace fatlink::cli {

/// The JSON text, which a run of `plan` accepts as it is; its formulas and the fields of a struct
/// are examples. `plan`: with the types of its elements. `hooks`: those that the transform `name`
/// fills. Empty where `plan` computes nothing with them, or the
/// elements have several types and of one only the size is known.
std::string sidecar_form(launch_plan const& plan, std::set<std::string> const& hooks,
                         std::string const& name);

}  // namespace fatlink::cli
