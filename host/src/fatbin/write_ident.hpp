// SPDX-License-Identifier: Apache-2.0
// Writes an ident text, which parse_ident() of fatlink/ident.hpp reads, and replaces that of a
// fatbin, in the layout of nvcc's -Xfatbin=-ident=TEXT: after the fixed fields of each entry's
// header, before the options. Payloads and all other fields are kept; offsets and sizes in the
// headers are adjusted to the length of the text.
#pragma once

#include <string>
#include <string_view>

#include "fatlink/bytes.hpp"
#include "fatlink/ident.hpp"

namespace fatlink::detail {

/// The members of `stated` in the order in which fatlink_add_fatbin writes them, without those that
/// are empty, `elements` and digests, which add_digests() writes. The same ident makes the same
/// text.
std::string encode_ident(ident const& stated);

/// `image`, a fatbin, with `text` as the ident of every entry. `name` is the file's, for messages.
/// @throws format_error as read_fatbin.
byte_buffer write_ident(bytes_view image, std::string_view text, std::string_view name = "fatbin");

}  // namespace fatlink::detail
