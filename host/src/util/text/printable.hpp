// SPDX-License-Identifier: Apache-2.0
// Makes text of foreign origin safe to print on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace fatlink::detail {

/// `text` with each byte escaped as \xNN that is part of a control character (C0 except tab and
/// newline, DEL, C1, the marks that reorder text) or of no valid UTF-8 character.
std::string printable(std::string_view text);

}  // namespace fatlink::detail
