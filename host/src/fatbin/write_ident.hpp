// SPDX-License-Identifier: Apache-2.0
// Replaces the ident of a fatbin, in the layout of nvcc's -Xfatbin=-ident=TEXT: after the fixed
// fields of each entry's header, before the options. Payloads and all other fields are
// kept; offsets and sizes in the headers are adjusted to the length of the text.
#pragma once

#include <string_view>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// `image`, a fatbin, with `text` as the ident of every entry. `name` is the file's, for messages.
/// @throws format_error as read_fatbin.
byte_buffer write_ident(bytes_view image, std::string_view text, std::string_view name = "fatbin");

}  // namespace fatlink::detail
