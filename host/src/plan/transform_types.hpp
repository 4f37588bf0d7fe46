// SPDX-License-Identifier: Apache-2.0
// The types that a transform binds, from its sidecar:
//   "element": "float16", or [{"name": "value", "type": "float32"}, …], a struct
//   "state":   [{"name": "scale", "type": "float32", "default": 2}, …], the struct that its hooks
//              get a pointer to; a default is a number, of complex types [real, imag]; without
//              one: 0
// Threads: values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fatbin/json_file.hpp"
#include "fatlink/element_type.hpp"

namespace fatlink::detail {

/// How many hooks a sidecar may state.
constexpr std::size_t k_most_hooks = 64;

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
