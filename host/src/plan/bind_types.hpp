// SPDX-License-Identifier: Apache-2.0
// The types that "element" stands for in a plan, by the inputs of a link. Threads: no shared state.
#pragma once

#include <map>
#include <span>
#include <string>

#include "fatlink/element_type.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/input.hpp"
#include "fatlink/launch_plan.hpp"

namespace fatlink::detail {

/// The types of elements by the hook that handles them.
using hook_elements = std::map<std::string, element_type, std::less<>>;

/// What the idents of `modules` record; a later module replaces what an earlier one, as the
/// library, records of the same hook. A record of a default definition does not count where another
/// module defines the hook: it may handle other elements.
hook_elements elements_of(std::span<fatbin const> modules);

/// Also what the sidecars of `inputs`, the library and then the transforms, state: a transform's of
/// its hooks, the first statement counts; the library's of hooks that no transform fills and of
/// which nothing is recorded, or a struct without its fields. `modules`: those that a link takes of
/// `inputs`.
/// @throws file_error (invalid-sidecar) a sidecar's "element" or "hooks" is malformed, or differs
///   from what the same input records.
hook_elements elements_of(std::span<fatbin const> modules, std::span<input const> inputs);

/// `plan` with a type for each "element" for which `elements` has one; others keep none. The type
/// of an argument `a` with the hook `f` is that of "f_a" where there is one, else that of "f". Its
/// `element` is the type that all of them have.
/// @throws usage_error an argument names no hook, and the hooks have elements of different types.
launch_plan bind_types(launch_plan plan, hook_elements const& elements);

/// @throws usage_error an argument of `plan` has no type; names it, and the remedy.
void require_types(launch_plan const& plan);

}  // namespace fatlink::detail
