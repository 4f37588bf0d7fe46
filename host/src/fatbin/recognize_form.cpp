// SPDX-License-Identifier: Apache-2.0
#include "fatbin/recognize_form.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "util/bytes/byte_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

using namespace std::string_view_literals;

constexpr auto k_fatbin_magic = "\x50\xED\x55\xBA"sv;
constexpr char const* k_unpack = "unpack it and pass the .fatbin";

struct magic {
  file_kind kind;
  std::string_view bytes;
  char const* description;
  char const* remedy;
};

// The first match wins: a Debian package is an ar archive.
constexpr std::array k_magics{
    magic{file_kind::other, "!<arch>\ndebian-binary"sv, "a Debian package", "install it with apt"},
    magic{file_kind::archive, "!<arch>\n"sv, "an ar archive", k_pack_remedy},
    magic{file_kind::archive, "!<thin>\n"sv, "a thin ar archive", k_compile_remedy},
    magic{file_kind::other, "\xED\xAB\xEE\xDB"sv, "an RPM package", "install it with dnf"},
    magic{file_kind::nvvm_ir, "BC\xC0\xDE"sv, "LLVM bitcode", k_compile_remedy},
    magic{file_kind::nvvm_ir, "\xDE\xC0\x17\x0B"sv, "LLVM bitcode", k_compile_remedy},
    magic{file_kind::other, "\x93NUMPY"sv, "a .npy file",
          "<pass it as the elements of a run>, not as a fatbin"},
    magic{file_kind::other, "PK\x03\x04"sv, "a zip archive", k_unpack},
    magic{file_kind::other, "\x1F\x8B"sv, "gzip-compressed data",
          "decompress it and pass the .fatbin"},
    magic{file_kind::other, "\x28\xB5\x2F\xFD"sv, "zstd-compressed data",
          "decompress it and pass the .fatbin"},
    magic{file_kind::other,
          "\xFD"
          "7zXZ"sv,
          "xz-compressed data", "decompress it and pass the .fatbin"},
};

/// Raw LTO-IR: u32 magic 0x7F4E43ED, u8 container version major and minor at 4, u16 tag and value
/// pairs from 0x18, of which the first is tag 1: the architecture times 10.
/// Source: no public specification; observed with nvcc 12.9 to 13.5.
constexpr auto k_ltoir_start = "\xED\x43\x4E\x7F"sv;

file_form describe_ltoir(byte_reader const& bytes)
try {
  auto const major = bytes.read<std::uint8_t>(4);
  auto const minor = bytes.read<std::uint8_t>(5);
  auto const has_target = bytes.read<std::uint16_t>(0x18) == 1;
  auto const target = has_target
                          ? detail::format(" for sm_{}", bytes.read<std::uint16_t>(0x1A) / 10)
                          : std::string{};
  return {file_kind::ltoir,
          detail::format("raw LTO-IR{} (container version {}.{})", target, major, minor),
          k_pack_remedy};
} catch (out_of_bytes const&) {
  return {file_kind::ltoir, "truncated raw LTO-IR", k_compile_remedy};
}

/// POSIX tar has its magic in the header of the first member, at 257.
bool is_tar(byte_reader const& bytes)
{
  return bytes.size() >= 512 && bytes.text(257, 5) == "ustar";
}

file_form describe_unknown(bytes_view bytes)
{
  auto const is_zero = [](std::byte value) { return value == std::byte{0}; };
  if (std::all_of(bytes.begin(), bytes.end(), is_zero))
    return {file_kind::other, detail::format("{} zero bytes", bytes.size()),
            "the copy or download is incomplete: get the file again"};
  std::string head;
  for (auto const value : bytes.first(std::min<std::size_t>(bytes.size(), 4)))
    head += detail::format(" {:02x}", std::to_integer<unsigned>(value));
  return {file_kind::other, detail::format("unknown data that begins with{}", head),
          k_compile_remedy};
}

}  // namespace

file_form recognize_form(bytes_view bytes)
{
  byte_reader const reader(bytes);
  auto const head = reader.text(0, std::min<std::uint64_t>(reader.size(), 64));
  if (head.starts_with("\x7F"
                       "ELF"))
    return recognize_elf(bytes);
  if (head.starts_with(k_fatbin_magic)) return {file_kind::fatbin, "a fatbin", ""};
  if (k_fatbin_magic.starts_with(head))
    return {file_kind::other, detail::format("the first {} bytes of a fatbin", bytes.size()),
            "copy or build it again in full"};
  if (head.starts_with(k_ltoir_start)) return describe_ltoir(reader);
  for (auto const& magic : k_magics)
    if (head.starts_with(magic.bytes)) return {magic.kind, magic.description, magic.remedy};
  if (is_tar(reader)) return {file_kind::other, "a tar archive", k_unpack};
  auto text = recognize_text(bytes);
  return text.description.empty() ? describe_unknown(bytes) : text;
}

}  // namespace fatlink::detail
