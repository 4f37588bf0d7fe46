// SPDX-License-Identifier: Apache-2.0
// Adds the digests of its entries to the ident of a fatbin: the second pass of fatlink_add_fatbin
// over what nvcc wrote. The format is described in fatlink/ident.hpp; check_entry_digests() reads
// it. The same bytes make the same bytes.
#pragma once

#include <string_view>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// `image`, a fatbin, with the digests of its entries; digests that it has are replaced. Without an
/// ident it gets one that states nothing else.
/// @throws format_error as read_fatbin.
/// @throws file_error another tool's ident, or entries with different idents.
byte_buffer add_digests(bytes_view image, std::string_view name = "fatbin");

}  // namespace fatlink::detail
