// SPDX-License-Identifier: Apache-2.0
// Which input form a file has, and the refusal of those that have none. Threads: no shared state.
#pragma once

#include <optional>
#include <string_view>

#include "fatlink/bytes.hpp"
#include "fatlink/input.hpp"

namespace fatlink::detail {

/// The form that `bytes` begin like, whatever the file is called; nullopt for everything else. The
/// file may be damaged: its reader finds out.
std::optional<input_form> recognize(bytes_view bytes);

/// As above. `name` is the file's, for messages.
/// @throws format_error (stage input) empty-input; unknown-form: names what the file is, the eight
///   forms, and what to do.
input_form require_form(bytes_view bytes, std::string_view name);

}  // namespace fatlink::detail
