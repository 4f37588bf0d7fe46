// SPDX-License-Identifier: Apache-2.0
// The attributes in sections of type .nv.info: of the whole file (each names a function by its
// symbol), or of one function (section .nv.info.NAME, whose sh_info is the function's section).
// Source: no public specification; observed with CUDA 12.9 to 13.5. Threads: no shared state.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cubin/cubin_file.hpp"

namespace fatlink::detail {

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

}  // namespace fatlink::detail
