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
  return {file.name(), write_fatbin(entry, file.name()),
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
