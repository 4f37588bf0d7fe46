// SPDX-License-Identifier: Apache-2.0
// The header of an entry: docs/fatbin_format.md, "Entry".
#include "fatbin/write_ident.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "fatbin/layout.hpp"
#include "fatlink/fatbin.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/bytes/encodings.hpp"
#include "util/text/format.hpp"
#include "util/text/json.hpp"

namespace fatlink::detail {
namespace {

constexpr std::uint64_t k_alignment = 8;

template <typename Number>
Number get(byte_buffer const& bytes, std::size_t offset)
{
  return byte_reader(bytes).read<Number>(offset);
}

template <typename Number>
void put(byte_buffer& bytes, std::size_t offset, Number value)
{
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

void pad_to_alignment(byte_buffer& bytes)
{
  bytes.resize((bytes.size() + k_alignment - 1) / k_alignment * k_alignment);
}

void append(byte_buffer& bytes, bytes_view addition)
{
  bytes.insert(bytes.end(), addition.begin(), addition.end());
}

/// The bytes that nvcc reserves for a text: with its NUL, padded with zeros to a multiple of 8.
std::uint32_t padded_size(std::size_t length)
{
  return static_cast<std::uint32_t>((length / k_alignment + 1) * k_alignment);
}

/// The end of the ident in `header`: the start of the options, or the end of the header.
std::uint32_t ident_end(byte_buffer const& header, std::uint32_t begin, std::uint32_t length)
{
  if (length == 0) return begin;
  auto const end = std::min<std::size_t>(begin + padded_size(length), header.size());
  auto const pair = get<std::uint32_t>(header, 0x14);
  return static_cast<std::uint32_t>(pair < begin + length ? end : std::min<std::size_t>(end, pair));
}

/// The header of an entry with another ident.
byte_buffer replace_ident(byte_buffer header, std::string_view text)
{
  auto const length = get<std::uint32_t>(header, 0x24);
  auto const begin = length == 0 ? layout::k_least_entry_header : get<std::uint32_t>(header, 0x20);
  auto const end = ident_end(header, begin, length);
  auto const grown = padded_size(text.size()) - (end - begin);  // modulo 2^32
  auto const moved = [&](std::uint32_t offset) { return offset >= end ? offset + grown : offset; };
  if (auto const pair = get<std::uint32_t>(header, 0x14); pair != 0) {
    put(header, pair, moved(get<std::uint32_t>(header, pair)));
    put(header, 0x14, moved(pair));
  }
  put(header, 0x20, begin);
  put(header, 0x24, static_cast<std::uint32_t>(text.size()));
  header.erase(header.begin() + begin, header.begin() + end);
  header.insert(header.begin() + begin, padded_size(text.size()), std::byte{0});
  std::memcpy(header.data() + begin, text.data(), text.size());
  pad_to_alignment(header);
  put(header, 0x04, static_cast<std::uint32_t>(header.size()));
  return header;
}

/// Appends the entry at `offset` of `image` with another ident; returns the offset after it.
std::uint64_t append_entry(byte_buffer& written, byte_reader const& image, std::uint64_t offset,
                           std::string_view ident)
{
  auto const size = image.read<std::uint32_t>(offset + 0x04);
  auto const payload = image.read<std::uint64_t>(offset + 0x08);
  auto const header = image.view(offset, size);
  append(written, replace_ident({header.begin(), header.end()}, ident));
  append(written, image.view(offset + size, payload));
  return offset + size + payload;
}

/// Appends the container at `offset` of `image`; returns the offset after it.
std::uint64_t append_container(byte_buffer& written, byte_reader const& image, std::uint64_t offset,
                               std::string_view ident)
{
  auto const begin = written.size();
  append(written, image.view(offset, layout::k_container_header));
  auto entry = offset + layout::k_container_header;
  auto const end = entry + image.read<std::uint64_t>(offset + 0x08);
  while (entry < end) entry = append_entry(written, image, entry, ident);
  put<std::uint64_t>(written, begin + 0x08, written.size() - begin - layout::k_container_header);
  return end;
}

std::string contract_members(ident const& stated)
{
  std::string hooks;
  for (auto const& [hook, type] : stated.hooks)
    hooks +=
        detail::format("{}{}:{}", hooks.empty() ? "" : ",", json_string(hook), json_string(type));
  return detail::format(
      R"(,"contract":{},"version":{},"header_sha256":"{}","contract_package":{},"hooks":{{{}}})",
      json_string(stated.contract), stated.version, stated.header_sha256,
      json_string(stated.contract_package), hooks);
}

}  // namespace

std::string encode_ident(ident const& stated)
{
  auto json = detail::format(R"({{"fatlink":{})", k_ident_format);
  if (!stated.contract.empty()) json += contract_members(stated);
  auto const add = [&](char const* name, std::string const& value) {
    if (!value.empty()) json += detail::format(R"(,"{}":{})", name, json_string(value));
  };
  add("toolkit", stated.toolkit);
  add("float", stated.float_flags);
  add("producer", stated.producer);
  add("package", stated.package);
  return encode_base64(json + "}");
}

byte_buffer write_ident(bytes_view image, std::string_view text, std::string_view name)
{
  (void)read_fatbin(image, name);  // so every offset below is inside
  byte_reader const bytes(image);
  byte_buffer written;
  for (std::uint64_t offset = 0; offset < image.size();)
    offset = append_container(written, bytes, offset, text);
  return written;
}

}  // namespace fatlink::detail
