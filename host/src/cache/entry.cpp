// SPDX-License-Identifier: Apache-2.0
#include "cache/entry.hpp"

#include <algorithm>

#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"
#include "util/text/sequence.hpp"

namespace fatlink::cache {
namespace {

// The format of an entry. Little-endian, without padding.
//
// <entry>    ::= <magic> <version> <key> <warnings> <image> <check>
// <magic>    ::= "FLNK"
// <version>  ::= u32; 1: the first
// <key>      ::= <text>: the parts of the cache key; their SHA-256 is the name of the file
// <warnings> ::= u32 count, at most 4096, then that many <text>: warnings of nvJitLink
// <image>    ::= u64 size, then that many bytes: the cubin or PTX
// <check>    ::= 32 bytes: SHA-256 of everything before it
// <text>     ::= u32 size, then that many bytes
constexpr std::string_view k_magic = "FLNK";
constexpr std::size_t k_check_size = std::tuple_size_v<digest256>;

/// Decodes everything before the check, which has been compared.
entry decode_content(bytes_view content)
{
  detail::sequence_reader reader(content);
  auto const magic = reader.view(k_magic.size());
  if (!std::equal(magic.begin(), magic.end(), k_magic.begin(), [](std::byte byte, char letter) {
        return std::to_integer<char>(byte) == letter;
      }))
    throw detail::sequence_error("it is not a cache entry");
  if (auto const version = reader.number<std::uint32_t>(); version != k_entry_version)
    throw detail::sequence_error(detail::format("its version, {}, is not supported", version));
  entry result;
  result.parts = reader.text();
  result.link.warnings = reader.texts();
  result.link.bytes = reader.bytes();
  reader.expect_end();
  return result;
}

}  // namespace

std::string name_of(std::string const& parts)
{
  return detail::to_hexadecimal(detail::sha256(std::as_bytes(std::span(parts))));
}

byte_buffer encode_entry(std::string const& parts, cached_link const& link)
{
  detail::sequence_writer writer;
  writer.raw(k_magic.data(), k_magic.size());
  writer.number(k_entry_version);
  writer.text(parts);
  writer.texts(link.warnings);
  writer.bytes(link.bytes);
  auto const check = detail::sha256(writer.made());
  writer.raw(check.data(), check.size());
  return writer.take();
}

std::optional<entry> decode_entry(bytes_view bytes, std::string& reason)
{
  if (bytes.size() < k_check_size) {
    reason = "it is truncated";
    return std::nullopt;
  }
  auto const content = bytes.first(bytes.size() - k_check_size);
  auto const check = bytes.last(k_check_size);
  auto const digest = detail::sha256(content);
  if (!std::equal(check.begin(), check.end(), digest.begin())) {
    reason = "its checksum is wrong";
    return std::nullopt;
  }
  try {
    return decode_content(content);
  } catch (detail::sequence_error const& error) {
    reason = error.what();
    return std::nullopt;
  }
}

}  // namespace fatlink::cache
