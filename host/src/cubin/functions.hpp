// SPDX-License-Identifier: Apache-2.0
// What a cubin states of its functions: their names, which may share bytes and are therefore
// limited; attributes; prototypes; and the accesses of local memory in their machine code.
//
// Attributes are in sections of type .nv.info: of the whole file (each names a function by its
// symbol), or of one function (section .nv.info.NAME, whose sh_info is the function's section).
// Source: no public specification; observed with CUDA 12.9 to 13.5.
//
// The prototypes in section .nv.prototype are the types of device functions that the file defines
// for others, and of hooks that it calls by name.
//
// <prototype> ::= "#" <result> <parameter>* ( "|" <registers> )?
// <result>    ::= "v" | <type>
// <parameter> ::= <type> | "b0"              "b0" comes last and stands for `...`
// <type>      ::= ( "i" | "l" | "x" ) <count>? | "b" <count>
// i: a scalar of at most 32 bits, l: of 64, x: of 128; with a count, so many of them; b: bytes.
// <registers> says which registers calls preserve (PTX: .abi_preserve) and is skipped.
// Source: no public specification; observed with ptxas 12.9, 13.0 and 13.5.
//
// An instruction of sm_75 to sm_121 is 16 bytes: bits 0 to 11 are the operation (STL 0x387, LDL
// 0x983), bits 73 to 75 its width (0, 1: 8 bits; 2, 3: 16; 4: 32; 5: 64; 6: 128).
// Source: no public specification; compared with the spills that `ptxas -v` prints, for 225 kernels
// of sm_75, 80, 86, 89, 90, 100, 103, 120 and 121 with 24 to 255 registers, by ptxas 13.0.
//
// Threads: no shared state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cubin/cubin_file.hpp"
#include "fatlink/bytes.hpp"
#include "fatlink/ptx_interface.hpp"

namespace fatlink::detail {

/// Whether the symbol is a kernel with code.
bool is_kernel(elf_symbol const& symbol);

/// Reads names, and counts their bytes.
class symbol_names {
 public:
  explicit symbol_names(cubin_file const& file) : file_(file) {}

  /// The name of symbol `index`, in printable ASCII.
  /// @throws elf_error it is empty or has other characters.
  /// @throws cubin_above_limit it is above 16,384 bytes, or all are above 64 MiB.
  std::string read(std::uint32_t index);

 private:
  cubin_file const& file_;
  std::size_t bytes_ = 0;
};

/// The attributes that fatlink reads; docs/cubin_format.md describes their data.
enum class attribute_id : std::uint8_t {
  max_block = 0x05,        ///< of a kernel: u32 x, y, z
  constant_bank = 0x0A,    ///< of a kernel: u32 symbol of a section, u16 offset, u16 bytes
  callees = 0x0F,          ///< of a function: u32 symbols of functions
  required_block = 0x10,   ///< of a kernel: u32 x, y, z
  frame_size = 0x11,       ///< of the file: u32 symbol, u32 bytes
  min_stack_size = 0x12,   ///< of the file: u32 symbol, u32 bytes
  parameter = 0x17,        ///< of a kernel: u32, u16 position, u16 offset, u32 with the size
  parameter_bytes = 0x19,  ///< of a kernel: all parameters, in the value
  max_registers = 0x1B,    ///< of a kernel: in the value
  max_stack_size = 0x23,   ///< of the file: u32 symbol, u32 bytes
  register_count = 0x2F,   ///< of the file: u32 symbol, u32 registers
  large_parameter = 0x45,  ///< of a kernel: u32, u16 position, u16 offset, u32 size
};

/// One attribute.
struct cubin_attribute {
  attribute_id id = {};      ///< any value: others than those above, too
  std::uint16_t value = 0;   ///< of formats 2 and 3
  bytes_view data = {};      ///< of format 4
  std::uint64_t offset = 0;  ///< of the attribute in the file

  /// The number at `position`, in units of 4 bytes, of the data.
  /// @throws elf_error the data are shorter.
  [[nodiscard]] std::uint32_t number(std::size_t position) const;
  /// The product of the first three numbers, the threads of a block.
  /// @throws elf_error the data are shorter, or the product is above 32 bits.
  [[nodiscard]] std::uint32_t product() const;
};

/// Reads the attributes of a section, one after the other.
class attribute_reader {
 public:
  attribute_reader(cubin_file const& file, elf_section const& section)
      : bytes_(file.content(section)), offset_(section.offset)
  {
  }

  /// Nothing at the end. @throws elf_error an unknown format, or data past the section's end.
  std::optional<cubin_attribute> next();

 private:
  byte_reader bytes_;
  std::uint64_t offset_;
  std::uint64_t position_ = 0;
};

/// The sections with the attributes of kernels.
class kernel_sections {
 public:
  explicit kernel_sections(cubin_file const& file);

  /// The section with the attributes of the kernel that symbol `index` defines. Each can be taken
  /// once, so that the time to read a file stays proportional to its size.
  /// @throws elf_error there is none.
  elf_section const& take(std::uint32_t index);

 private:
  cubin_file const& file_;
  std::vector<elf_section const*> sections_;  ///< for each section with code
};

/// Sets results, parameters and is_variadic of `function` to what the text at the beginning of
/// `text` says, up to a NUL. False if it is no prototype.
/// @throws cubin_above_limit more than 4,096 parameters; its offset is 0.
bool read_prototype(std::string_view text, ptx_function& function);

/// Bytes that one thread would write and read if it executed each instruction once.
struct local_accesses {
  std::uint64_t stores = 0;
  std::uint64_t loads = 0;
};

/// Nothing if the instructions of sm_`architecture` are not known, or if an access has an unknown
/// width. Ignores a part of an instruction at the end.
std::optional<local_accesses> count_local_accesses(bytes_view code, unsigned architecture);

}  // namespace fatlink::detail
