// SPDX-License-Identifier: Apache-2.0
// Threads: no shared state.
#pragma once

#include <optional>
#include <string>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// The path of the first key that an object has twice: "launches[0].grid". `json`: well-formed.
std::optional<std::string> find_repeated_key(bytes_view json);

/// JSON readers take the last of two equal keys; in a plan the other one would be lost.
/// `json`: well-formed, the content of `file`.
/// @throws file_error (code invalid-plan) an object has a key twice; names its path.
void check_unique_keys(bytes_view json, std::string const& file);

}  // namespace fatlink::detail
