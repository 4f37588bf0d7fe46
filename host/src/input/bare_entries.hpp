// SPDX-License-Identifier: Apache-2.0
// Bare PTX, raw LTO-IR and cubins as entries of a fatbin; and the head of PTX text: .version,
// .target and .address_size, which begin every module. Comments may stand before and between them.
// Source: PTX ISA 9.0, "PTX Module Directives". Threads: no shared state.
#pragma once

#include <cstdint>
#include <string_view>

#include "fatbin/write_fatbin.hpp"
#include "fatlink/bytes.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/target.hpp"
#include "input/ltoir.hpp"

namespace fatlink::detail {

struct ptx_text {
  std::string_view text = {};       ///< without trailing NULs; points into the bytes that were read
  std::uint16_t version_major = 0;  ///< of the PTX ISA: 9.0
  std::uint16_t version_minor = 0;  ///< see version_major
  fatlink::target target = {};      ///< of .target; with its suffix
};

/// The head of the PTX module in `bytes`, of which the rest is checked to be PTX text. `name` is
/// the file's, for messages. NULs at the end are dropped: NVRTC and libNVVM end PTX with one.
/// @throws format_error (stage input) corrupt-ptx, with the line: a NUL or another control
///   character inside, bytes that are not UTF-8, no .version, .target or .address_size 64, a body
///   that is not PTX text.
ptx_text read_ptx_text(bytes_view bytes, std::string_view name);

/// The entry of `ptx`, whose text it points into. Its options text is empty.
fatbin_entry ptx_entry(ptx_text const& ptx);

/// The entry of the raw LTO-IR `bytes`, which it points into. Its options text is empty: raw LTO-IR
/// states no float flags.
fatbin_entry ltoir_entry(bytes_view bytes, ltoir_header const& header);

/// The flags of an entry, as nvcc -Xfatbin --compress-mode=none writes them: 64-bit, Linux, and the
/// architecture's suffix. (It also sets 0x1000000 in elf entries from sm_100 on; nvJitLink 13.0
/// links the same without.)
inline std::uint64_t flags_of(target architecture) noexcept
{
  constexpr std::uint64_t k_64_bit_linux = 0x11;
  auto const suffix = architecture.suffix();
  return k_64_bit_linux | (suffix == 'a'   ? layout::k_flag_arch_specific
                           : suffix == 'f' ? layout::k_flag_family_specific
                                           : 0);
}

/// The elf entry of the cubin `bytes`, which it points into: relocatable, or a whole program (which
/// preflight refuses). `name` is the file's, for messages.
/// @throws format_error (stage input) corrupt-cubin: damaged, with the byte offset; or no note
///   states whether its target has a suffix.
fatbin_entry cubin_entry(bytes_view bytes, std::string_view name);

}  // namespace fatlink::detail
