// SPDX-License-Identifier: Apache-2.0
#include "input/bare_entries.hpp"

#include <span>

#include "input/entry_flags.hpp"

namespace fatlink::detail {

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
