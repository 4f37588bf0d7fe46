// SPDX-License-Identifier: Apache-2.0
// Writes an ident text; parse_ident() of fatlink/ident.hpp reads it. The same ident makes the same
// text.
#pragma once

#include <string>

#include "fatlink/ident.hpp"

namespace fatlink::detail {

/// The members of `stated` in the order in which fatlink_add_fatbin writes them, without those that
/// are empty, `elements` and digests, which add_digests() writes.
std::string encode_ident(ident const& stated);

}  // namespace fatlink::detail
