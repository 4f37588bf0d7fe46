// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/link_input.hpp"

#include <algorithm>
#include <utility>

#include "fatbin/write_fatbin.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

// The entry fields of PTX that fatlink generates.
constexpr std::uint64_t k_flags_64_bit_linux = 0x11;
constexpr std::uint16_t k_ptx_major = 8;

/// PTX as ptxas takes it, which refuses all but ASCII, also in comments and names of files, and
/// vertical tabs and form feeds. Nowhere else can PTX have them.
std::string to_ascii(std::string text)
{
  for (auto& letter : text)
    if (static_cast<unsigned char>(letter) > 0x7F)
      letter = '?';
    else if (letter == '\v' || letter == '\f')
      letter = ' ';
  return text;
}

/// nvJitLink 13 links PTX of sm_72, sm_82 and sm_101, and refuses entries of these numbers. It
/// takes the architecture from the PTX itself.
target target_of_entry(target of_ptx)
{
  auto const number = of_ptx.number();
  auto const is_refused = number == 72 || number == 82 || number == 101;
  return is_refused ? target(number / 10 * 10, of_ptx.suffix()) : of_ptx;
}

byte_buffer write_ptx(fatbin_entry entry, std::string const& name)
{
  auto const text = to_ascii(read_ptx(entry, name));
  entry.target = target_of_entry(entry.target);
  entry.payload = std::as_bytes(std::span(text));
  entry.uncompressed_size = text.size();
  entry.compression = compression::none;
  entry.flags &= ~layout::k_flags_of_compression;
  entry.scramble_key = 0;
  return write_fatbin(entry, name);
}

[[noreturn]] void refuse_form(std::string const& name, std::string const& cause)
{
  throw format_error(
      0, {.message = detail::format("{}: {}; it is not passed to nvJitLink", name, cause),
          .input = name,
          .code = error_code::corrupt_fatbin,
          .hint = "install fatlink and fatlink-linkd of one version"});
}

}  // namespace

link_input link_input::write(fatbin const& file, fatbin_entry const& entry)
{
  auto const is_ptx = entry.kind == entry_kind::ptx;
  return {file.name(), is_ptx ? write_ptx(entry, file.name()) : write_fatbin(entry, file.name()),
          entry.kind == entry_kind::elf && !file.is_verified()};
}

link_input link_input::from_ptx(std::string_view text, target architecture, std::string name)
{
  fatbin_entry entry;
  entry.target = architecture;
  entry.version_major = k_ptx_major;
  entry.flags = k_flags_64_bit_linux;
  entry.payload = std::as_bytes(std::span(text));
  entry.uncompressed_size = text.size();
  auto bytes = write_fatbin(entry, name);
  return {std::move(name), std::move(bytes)};
}

link_input link_input::read(bytes_view bytes, std::string name)
{
  auto const entries = read_fatbin(bytes, name);
  if (entries.size() != 1)
    refuse_form(name, detail::format("holds {} entries instead of one", entries.size()));
  auto written = write_fatbin(entries[0], name);
  if (!std::ranges::equal(written, bytes)) refuse_form(name, "is not as fatlink writes it");
  return {std::move(name), std::move(written)};
}

}  // namespace fatlink::detail
