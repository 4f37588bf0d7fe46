// SPDX-License-Identifier: Apache-2.0
#include "input/cubin_module.hpp"

#include "cubin/cubin.hpp"
#include "input/entry_flags.hpp"
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

}  // namespace fatlink::detail
