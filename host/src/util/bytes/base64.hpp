// SPDX-License-Identifier: Apache-2.0
// Base64 as in RFC 4648, section 4, by nettle.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fatlink::detail {

/// Nothing where `text` is not base64 (a stray character, a wrong length, misplaced '=').
std::optional<std::string> decode_base64(std::string_view text);

/// With padding, on one line.
std::string encode_base64(std::string_view bytes);

}  // namespace fatlink::detail
