// SPDX-License-Identifier: Apache-2.0
// The types that "element" stands for in a plan, by the idents and sidecars of the inputs of a
// link. Threads: no shared state.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fatbin/json_file.hpp"
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

/// How many hooks a sidecar may state.
constexpr std::size_t k_most_hooks = 64;

/// The struct `name` of an array of {"name": …, "type": …}; `keys`: those that a field may have.
/// @throws file_error a name or type that is none, or no struct (record_type).
element_type read_record(json_place const& list, std::string const& name,
                         std::vector<std::string> const& keys);

/// The types that a transform binds, from its sidecar:
///   "element": "float16", or [{"name": "value", "type": "float32"}, …], a struct
///   "state":   [{"name": "scale", "type": "float32", "default": 2}, …], the struct that its hooks
///              get a pointer to; a default is a number, of complex types [real, imag]; without
///              one: 0
struct transform_types {
  std::optional<element_type> element = {};
  std::optional<element_type> state = {};
  std::vector<std::byte> default_state = {};  ///< as large as `state`; padding is 0

  /// Reads the members "element" and "state" of a sidecar; both may be missing.
  /// @throws file_error (invalid-sidecar) a type that is not known, a name that is none or used
  ///   twice, a default that its type cannot represent, more than 4,096 bytes.
  static transform_types read(json_place const& sidecar);
};

}  // namespace fatlink::detail
