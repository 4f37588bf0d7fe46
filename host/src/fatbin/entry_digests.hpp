// SPDX-License-Identifier: Apache-2.0
// Checks the entries of a fatbin against the digests that its ident states, so that a fatbin that
// was damaged after it was built is refused before anything reads its payloads.
// The format of the digests is described in fatlink/ident.hpp. They detect damage; they are not a
// signature: an attacker who changes a payload can also write its digest.
// Threads: no shared state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/fatbin.hpp"

namespace fatlink::detail {

/// "ltoir:sm_90a 0123…": kind and architecture of `entry`, which is one of `image`, and the digest
/// of its header and payload in 32 hexadecimal digits.
std::string describe_entry(bytes_view image, fatbin_entry const& entry);

/// The first 32 hexadecimal digits of the SHA-256 of `text`.
std::string short_digest(std::string_view text);

/// Whether the ident of `entries`, all entries of `image`, states digests. If it does, every entry
/// must have its digest and the same ident, and no entry may be missing, added or moved.
/// @throws format_error (digest-mismatch) names the entry that differs, or the damaged ident.
bool check_entry_digests(bytes_view image, std::vector<fatbin_entry> const& entries,
                         std::string_view name);

/// `image`, a fatbin, with the digests of its entries; digests that it has are replaced. Without an
/// ident it gets one that states nothing else.
/// @throws format_error as read_fatbin.
/// @throws file_error another tool's ident, or entries with different idents.
byte_buffer add_digests(bytes_view image, std::string_view name = "fatbin");

}  // namespace fatlink::detail
