// SPDX-License-Identifier: Apache-2.0
#include "fatbin/write_fatbin.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

namespace fatlink::detail {
namespace {

constexpr std::uint32_t k_texts = 0x40;  // offset of the ident, or of the options field without one
constexpr std::uint32_t k_options_field_size = 8;

/// A size that is a multiple of 8.
std::uint64_t round_up_size(std::uint64_t size)
{
  return (size + 7) / 8 * 8;
}

/// The bytes that nvcc reserves for a text: its length and a NUL, padded to a multiple of 8.
std::uint32_t reserve(std::size_t length)
{
  return static_cast<std::uint32_t>(round_up_size(length + 1));
}

bytes_view as_view(std::string_view text)
{
  return std::as_bytes(std::span(text));
}

bytes_view without_trailing_nuls(bytes_view bytes)
{
  auto const is_nul = [](std::byte value) { return value == std::byte{0}; };
  auto const end = std::find_if_not(bytes.rbegin(), bytes.rend(), is_nul);
  return bytes.first(static_cast<std::size_t>(bytes.rend() - end));
}

/// An entry as it is written.
struct part {
  fatbin_entry const* entry = nullptr;
  bytes_view payload = {};
  fatlink::compression compression = fatlink::compression::none;
  std::uint64_t flags = 0;
  std::uint64_t scramble_key = 0;
  std::string_view ident = {};
  bytes_view options = {};
  std::uint32_t options_length = 0;  ///< as stated; at least the size of `options`
  bool has_options = true;           ///< there is an options field

  [[nodiscard]] std::uint32_t options_field() const
  {
    return k_texts + (ident.empty() ? 0 : reserve(ident.size()));
  }
  [[nodiscard]] std::uint32_t header_size() const
  {
    if (!has_options) return options_field();
    return options_field() + k_options_field_size + reserve(options.size());
  }
  [[nodiscard]] std::uint64_t size() const { return header_size() + round_up_size(payload.size()); }
};

/// Every field of `entry` but the options.
part keep(fatbin_entry const& entry)
{
  return {.entry = &entry,
          .payload = entry.payload,
          .compression = entry.compression,
          .flags = entry.flags,
          .scramble_key = entry.scramble_key,
          .ident = entry.ident_text};
}

/// The options of a cubin, which are binary; empty where they are zeros only.
bytes_view binary_options(fatbin_entry const& entry)
{
  auto const is_empty = without_trailing_nuls(entry.stored_options).empty();
  return is_empty ? bytes_view{} : entry.stored_options;
}

/// The options of PTX and LTO-IR, which are text; nvcc ends them with a space.
bytes_view text_options(fatbin_entry const& entry)
{
  return entry.stored_options.empty() ? as_view(entry.options)
                                      : without_trailing_nuls(entry.stored_options);
}

/// The field of options that has the stated length of `options`.
part with_options(part result, bytes_view options)
{
  result.options = options;
  result.options_length = static_cast<std::uint32_t>(options.size());
  return result;
}

/// As in a fatbin of nvcc, where a cubin without options has no field for them.
part as_by_nvcc(fatbin_entry const& entry)
{
  if (entry.kind != entry_kind::elf) return with_options(keep(entry), text_options(entry));
  auto result = with_options(keep(entry), binary_options(entry));
  result.has_options = !result.options.empty();
  return result;
}

/// As for nvJitLink: without ident, and always with a field for options.
part as_for_nvjitlink(fatbin_entry const& entry)
{
  auto const is_binary = entry.kind == entry_kind::elf && !binary_options(entry).empty();
  auto result =
      with_options(keep(entry), is_binary ? entry.stored_options : as_view(entry.options));
  if (!is_binary) result.options_length = reserve(entry.options.size());
  result.ident = {};
  return result;
}

class writer {
 public:
  explicit writer(std::span<part const> parts) : bytes_(layout::k_container_header)
  {
    for (auto const& part : parts) append(part);
    begin_ = 0;
    put(0x00, layout::k_magic);
    put(0x04, layout::k_version);
    put(0x06, layout::k_container_header);
    put<std::uint64_t>(0x08, bytes_.size() - layout::k_container_header);
  }

  byte_buffer take() { return std::move(bytes_); }

 private:
  void append(part const& part)
  {
    begin_ = bytes_.size();
    bytes_.resize(begin_ + part.size());
    write_fields(part);
    copy(k_texts, part.ident.data(), part.ident.size());
    if (part.has_options) write_options(part);
    copy(part.header_size(), part.payload.data(), part.payload.size());
  }

  void write_fields(part const& part)
  {
    auto const is_compressed = part.compression != compression::none;
    put(0x00, static_cast<std::uint16_t>(part.entry->kind));
    put(0x02, layout::k_entry_version);
    put(0x04, part.header_size());
    put(0x08, round_up_size(part.payload.size()));
    put(0x10, static_cast<std::uint32_t>(is_compressed ? part.payload.size() : 0));
    put(0x14, part.has_options ? part.options_field() : 0);
    write_version(*part.entry);
    put<std::uint32_t>(0x1C, part.entry->target.number());
    put<std::uint32_t>(0x20, part.ident.empty() ? 0 : k_texts);
    put(0x24, static_cast<std::uint32_t>(part.ident.size()));
    put(0x28, part.flags);
    put(0x30, part.scramble_key);
    put(0x38, is_compressed ? part.entry->uncompressed_size : 0);
  }

  void write_version(fatbin_entry const& entry)
  {
    auto const is_tile = entry.kind == entry_kind::tileir;  // see read_fatbin.cpp
    auto const whole = entry.version_major << 8U | entry.version_minor;
    put(0x18, is_tile ? std::uint16_t{0} : entry.version_minor);
    put(0x1A, is_tile ? static_cast<std::uint16_t>(whole) : entry.version_major);
  }

  void write_options(part const& part)
  {
    auto const field = part.options_field();
    put(field, field + k_options_field_size);
    put(field + 4, part.options_length);
    copy(field + k_options_field_size, part.options.data(), part.options.size());
  }

  template <typename Number>
  void put(std::uint64_t offset, Number value)
  {
    copy(offset, &value, sizeof value);
  }
  void copy(std::uint64_t offset, void const* source, std::size_t size)
  {
    if (size != 0) std::memcpy(bytes_.data() + begin_ + offset, source, size);
  }

  byte_buffer bytes_;
  std::uint64_t begin_ = 0;  ///< of the header that is written, in bytes_
};

/// Within one target nvcc writes the cubin, then PTX, then LTO-IR.
int rank(entry_kind kind)
{
  switch (kind) {
    case entry_kind::elf:
      return 0;
    case entry_kind::ptx:
      return 1;
    case entry_kind::ltoir:
      return 2;
    case entry_kind::tileir:
      break;
  }
  return 3;
}

bool precedes(part const& a, part const& b)
{
  return std::tuple(a.entry->target, rank(a.entry->kind)) <
         std::tuple(b.entry->target, rank(b.entry->kind));
}

}  // namespace

byte_buffer write_fatbin(fatbin_entry const& entry, std::string_view name)
{
  auto part = as_for_nvjitlink(entry);
  if (entry.kind == entry_kind::ltoir) return writer({&part, 1}).take();
  auto const text = entry.kind == entry_kind::ptx ? read_ptx(entry, name) + '\0' : std::string();
  auto const cubin = entry.kind == entry_kind::elf ? read_elf(entry, name) : byte_buffer();
  part.payload = entry.kind == entry_kind::ptx ? as_view(text) : bytes_view(cubin);
  part.compression = compression::none;
  part.flags &= ~layout::k_flags_of_compression;
  part.scramble_key = 0;
  return writer({&part, 1}).take();
}

byte_buffer write_fatbin(std::span<fatbin_entry const> entries)
{
  std::vector<part> parts;
  for (auto const& entry : entries) parts.push_back(as_by_nvcc(entry));
  std::stable_sort(parts.begin(), parts.end(), precedes);
  return writer(parts).take();
}

}  // namespace fatlink::detail
