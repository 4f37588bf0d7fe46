// SPDX-License-Identifier: Apache-2.0
// Numbers and structs, from JSON to the bytes that a kernel takes. Threads: no shared state.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "fatlink/element_type.hpp"

namespace fatlink::detail {

/// type.size bytes, little-endian, padding zero. `value`: a number; "inf", "-inf" or "nan"; two
/// numbers (complex; one is the real part); an object with a number for each field (records), or a
/// number for all fields; 0 for bytes without meaning.
/// @throws std::invalid_argument it is not a value of `type`; what() is the cause.
std::vector<std::byte> encode_value(element_type const& type, nlohmann::json const& value);

}  // namespace fatlink::detail
