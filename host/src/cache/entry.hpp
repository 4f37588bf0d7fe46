// SPDX-License-Identifier: Apache-2.0
// A cache entry as bytes. entry.cpp states the format. Encoding is deterministic: the same link
// gives the same bytes. Anything that is not exactly a valid entry is rejected.
// Threads: no shared state.
#pragma once

#include <optional>
#include <string>

#include "fatlink/cache.hpp"

namespace fatlink::cache {

constexpr std::uint32_t k_entry_version = 1;

/// The file name of an entry: the SHA-256 of the key's parts, 64 hexadecimal digits.
std::string name_of(std::string const& parts);

/// The bytes of the entry that holds `link` under the key `parts`.
byte_buffer encode_entry(std::string const& parts, cached_link const& link);

/// A decoded entry.
struct entry {
  std::string parts = {};  ///< the parts of its key
  cached_link link = {};
};

/// Decodes an entry. If `bytes` are not a valid entry of this version, returns nothing and sets
/// `reason`.
std::optional<entry> decode_entry(bytes_view bytes, std::string& reason);

}  // namespace fatlink::cache
