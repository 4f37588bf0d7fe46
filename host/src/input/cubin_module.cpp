// SPDX-License-Identifier: Apache-2.0
#include "input/cubin_module.hpp"

#include "cubin/cubin.hpp"
#include "input/entry_flags.hpp"

namespace fatlink::detail {

fatbin_entry cubin_entry(bytes_view bytes, std::string_view name)
{
  fatbin_entry entry;
  entry.kind = entry_kind::elf;
  entry.target = read_cubin(bytes, name).target;
  entry.version_major = 1;
  entry.version_minor = 8;
  entry.flags = flags_of(entry.target);
  entry.payload = bytes;
  entry.uncompressed_size = bytes.size();
  return entry;
}

}  // namespace fatlink::detail
