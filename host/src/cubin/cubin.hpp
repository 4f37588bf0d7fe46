// SPDX-License-Identifier: Apache-2.0
// Reads cubins: CUDA ELF files with machine code for one architecture. Strict: the whole structure
// is checked, because nvJitLink crashes on damaged ones. Damaged machine code cannot be recognized.
// Units: bytes; integers little-endian.
// Source: no public specification; observed with CUDA 12.9, 13.0 and 13.5, pinned by tests/unit.
// The bytes: docs/cubin_format.md. Threads: no shared state.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/ptx_interface.hpp"
#include "fatlink/target.hpp"

namespace fatlink::detail {

class cubin_file;
class elf_reader;

/// The toolkit that made a cubin: 13.0 for 13.0.88.
struct cubin_toolkit {
  unsigned major = 0;
  unsigned minor = 0;

  // clang-tidy 14 takes the 0 of a rewritten a < b for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(cubin_toolkit const&, cubin_toolkit const&) = default;
};

/// What a cubin says about itself. Values; nothing points into the bytes.
struct cubin {
  fatlink::target target = {};    ///< the architecture, with the suffix where it is known
  bool has_exact_target = false;  ///< false: nothing says whether `target` has a suffix
  bool is_relocatable = false;    ///< false: a whole program or a linked image; it cannot be linked
  std::optional<cubin_toolkit> toolkit = {};  ///< the newest that took part, if any is known

  /// With coarse types. Kernels of any linkage; definitions, hooks and variables of relocatable
  /// cubins, but no texture, surface and sampler references.
  ptx_interface interface = {};
};

/// The names of a cubin in messages: "file.fatbin: the elf entry at byte 16: …".
struct cubin_name {
  std::string_view input;      ///< the file
  std::string_view part = {};  ///< of the file; empty for the file itself
};

/// @throws format_error (stage input) with the offset in `bytes`: corrupt-cubin for what is not a
///   CUDA ELF file or contradicts itself; above-limit for more than 1,048,576 functions, parameters
///   and variables, more than 4,096 parameters of a function, a name above 16,384 bytes, or names
///   of more than 64 MiB together.
cubin read_cubin(bytes_view bytes, cubin_name const& name);

/// As above, of a file.
inline cubin read_cubin(bytes_view bytes, std::string_view name)
{
  return read_cubin(bytes, cubin_name{name});
}

/// A function that a cubin defines or declares.
struct cubin_function {
  std::string name = {};
  bool is_kernel = false;
  bool is_private = false;          ///< no other module can call it
  std::uint32_t registers = 0;      ///< of each thread; 0 of a declaration
  std::uint32_t max_registers = 0;  ///< of a kernel: what its launch bounds leave; 0 if not stated
  std::vector<std::size_t> callees = {};  ///< positions in the list of functions
};

/// The functions of a relocatable cubin, in the order of the symbols, with what its call graph
/// states. Calls by address are not listed.
/// @throws format_error (stage input) as read_cubin().
std::vector<cubin_function> read_function_calls(bytes_view bytes, cubin_name const& name);

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
