// SPDX-License-Identifier: Apache-2.0
// An entry of the cache, as bytes. It says itself what it is; whatever is not exactly that is no
// entry. Deterministic: the same link, the same bytes. Little-endian.
//
// <entry>    ::= <magic> <version> <key> <warnings> <image> <check>
// <magic>    ::= "FLNK"          <version> ::= u32
// <key>      ::= <text>, the key's parts; their SHA-256 in hexadecimal is the file's name
// <warnings> ::= <texts>, what nvJitLink said besides
// <image>    ::= <bytes>, the cubin or PTX
// <check>    ::= 32 bytes, SHA-256 of everything before
// <text>, <texts>, <bytes> as in detail/sequence.hpp.
// Version 1: first.
#pragma once

#include <optional>
#include <string>

#include "fatlink/cache.hpp"

namespace fatlink::cache {

constexpr std::uint32_t k_entry_version = 1;

/// SHA-256 of a key's parts in hexadecimal: the file's name.
std::string name_of(std::string const& parts);

byte_buffer encode_entry(std::string const& parts, cached_link const& link);

/// An entry and what it is of.
struct entry {
  std::string parts;
  cached_link link;
};

/// Nothing where `bytes` are no sound entry of this version; `why` then says how they are not.
std::optional<entry> decode_entry(bytes_view bytes, std::string& why);

}  // namespace fatlink::cache
