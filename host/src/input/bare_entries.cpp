// SPDX-License-Identifier: Apache-2.0
#include "input/bare_entries.hpp"

#include <span>

#include "cubin/cubin.hpp"
#include "fatbin/entry_digests.hpp"
#include "input/refuse.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// sm_90a code is not taken for sm_90 code.
[[noreturn]] void refuse_inexact(target number, std::string_view name)
{
  refuse_input(error_code::corrupt_cubin, name,
               detail::format("no note (.note.nv.tkinfo) states its exact target, which is "
                              "{0}, or {0} with a suffix",
                              number.name()),
               detail::format("compile it again, or pack it with its target: fatbinary "
                              "--create=FILE.fatbin --image3=kind=elf,sm={},file=FILE.cubin",
                              number.number()));
}

}  // namespace

fatbin_entry cubin_entry(bytes_view bytes, std::string_view name)
{
  auto const cubin = read_cubin(bytes, name);
  if (!cubin.has_exact_target) refuse_inexact(cubin.target, name);
  fatbin_entry entry;
  entry.kind = entry_kind::elf;
  entry.target = cubin.target;
  entry.version_major = 1;
  entry.version_minor = 8;
  entry.flags = flags_of(entry.target);
  entry.payload = bytes;
  entry.uncompressed_size = bytes.size();
  return entry;
}

fatbin_entry ptx_entry(ptx_text const& ptx)
{
  fatbin_entry entry;
  entry.kind = entry_kind::ptx;
  entry.target = ptx.target;
  entry.version_major = ptx.version_major;
  entry.version_minor = ptx.version_minor;
  entry.flags = flags_of(ptx.target);
  entry.payload = std::as_bytes(std::span(ptx.text));
  entry.uncompressed_size = ptx.text.size();
  return entry;
}

fatbin_entry ltoir_entry(bytes_view bytes, ltoir_header const& header)
{
  fatbin_entry entry;
  entry.kind = entry_kind::ltoir;
  entry.target = header.target;
  entry.version_major = static_cast<std::uint16_t>(header.container.major);
  entry.version_minor = static_cast<std::uint16_t>(header.container.minor);
  entry.flags = flags_of(header.target);
  entry.payload = bytes;
  entry.uncompressed_size = bytes.size();
  return entry;
}

}  // namespace fatlink::detail
