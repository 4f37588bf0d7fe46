// SPDX-License-Identifier: Apache-2.0
// The architecture that a cubin was compiled for, and the toolkit that made it.
//
// OS ABI 0x33 (CUDA 12, below sm_100): e_flags has the architecture in bits 0 to 7, and bit 11 set
// for sm_90a; e_version is the toolkit's version times 10; there are no notes.
// OS ABI 0x41: e_flags has the architecture in bits 8 to 15. Suffix and toolkit are in the notes of
// owner "NVIDIA Corp":
//   .note.nv.tkinfo, type 2000: u32 version, u32 offset of the object's name in the text that
//     follows, then of the tool, of its version, of its build and of its options; text
//   .note.nv.cuinfo, type 1000: u16 version, u16 architecture, u32 toolkit's version times 10
// The options of ptxas and nvlink name the target: "-arch sm_90a -m 64 -c".
// Source: no public specification; observed with CUDA 12.9, 13.0 and 13.5. Threads: no shared
// state.
#pragma once

#include <optional>

#include "cubin/cubin.hpp"
#include "cubin/cubin_file.hpp"

namespace fatlink::detail {

/// 90 of sm_90a. @throws out_of_bytes
unsigned architecture_number(elf_reader const& elf);

/// What header and notes say.
struct cubin_architecture {
  fatlink::target target = {};
  bool has_exact_target = false;  ///< of the suffix of `target`, too
  std::optional<cubin_toolkit> toolkit = {};
};

/// @throws elf_error, out_of_bytes an unknown ABI or architecture, or a malformed note.
cubin_architecture read_architecture(cubin_file const& file);

}  // namespace fatlink::detail
