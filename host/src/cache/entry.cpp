// SPDX-License-Identifier: Apache-2.0
#include "cache/entry.hpp"

#include <algorithm>

#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"
#include "util/text/sequence.hpp"

namespace fatlink::cache {
namespace {

constexpr std::string_view k_magic = "FLNK";
constexpr std::size_t k_check = std::tuple_size_v<digest256>;

entry decode_sound(bytes_view bytes)
{
  detail::sequence_reader from(bytes);
  auto const magic = from.view(k_magic.size());
  if (!std::equal(magic.begin(), magic.end(), k_magic.begin(),
                  [](std::byte a, char b) { return std::to_integer<char>(a) == b; }))
    throw detail::sequence_error("is no cache entry");
  if (auto const version = from.number<std::uint32_t>(); version != k_entry_version)
    throw detail::sequence_error(detail::format("is of version {}", version));
  entry found;
  found.parts = from.text();
  found.link.warnings = from.texts();
  found.link.bytes = from.bytes();
  from.expect_end();
  return found;
}

}  // namespace

std::string name_of(std::string const& parts)
{
  return detail::to_hexadecimal(detail::sha256(std::as_bytes(std::span(parts))));
}

byte_buffer encode_entry(std::string const& parts, cached_link const& link)
{
  detail::sequence_writer to;
  to.raw(k_magic.data(), k_magic.size());
  to.number(k_entry_version);
  to.text(parts);
  to.texts(link.warnings);
  to.bytes(link.bytes);
  auto const check = detail::sha256(to.made());
  to.raw(check.data(), check.size());
  return to.take();
}

std::optional<entry> decode_entry(bytes_view bytes, std::string& why)
{
  if (bytes.size() < k_check) {
    why = "is too short";
    return std::nullopt;
  }
  auto const content = bytes.first(bytes.size() - k_check);
  auto const check = bytes.last(k_check);
  auto const sum = detail::sha256(content);
  if (!std::equal(check.begin(), check.end(), sum.begin())) {
    why = "its checksum is wrong";
    return std::nullopt;
  }
  try {
    return decode_sound(content);
  } catch (detail::sequence_error const& error) {
    why = error.what();
    return std::nullopt;
  }
}

}  // namespace fatlink::cache
