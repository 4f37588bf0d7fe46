// SPDX-License-Identifier: Apache-2.0
// Which entry of an input a link takes (fatlink::linked_entry), by the kinds that its mode allows.
#pragma once

#include <span>

#include "fatlink/preflight.hpp"

namespace fatlink::detail {

/// The choice that a preflight_request or link_options states.
template <typename Request>
entry_choice choice_of(Request const& request) noexcept
{
  return {request.target, request.mode, request.allow_calls};
}

/// The kinds of entries that can be linked, the preferred one first: the mode's own kind, and those
/// that link as calls if the choice allows them.
std::span<entry_kind const> kinds_of(entry_choice const& choice) noexcept;

/// The entry whose interface interface_of() returns: PTX or SASS; null if there is none.
fatbin_entry const* readable_entry(fatbin const& input, entry_choice const& choice) noexcept;

/// The kind of entry that `mode` is for.
entry_kind kind_of(link_mode mode) noexcept;

/// Whether `entry` records the float flags that it was compiled with; raw LTO-IR does not.
bool states_float_flags(fatbin_entry const& entry) noexcept;

/// "PTX", "LTO-IR" or "SASS".
char const* kind_text(entry_kind kind) noexcept;

}  // namespace fatlink::detail
