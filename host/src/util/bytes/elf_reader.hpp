// SPDX-License-Identifier: Apache-2.0
// Reads 64-bit little-endian ELF files: header, sections, notes. Every offset and size is checked.
// Source: System V ABI, "Object Files"; field offsets by the system's elf.h.
// Threads: no shared state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fatlink/bytes.hpp"
#include "util/bytes/byte_reader.hpp"

namespace fatlink::detail {

constexpr std::uint16_t k_elf_machine_cuda = 190;  ///< EM_CUDA

/// The bytes are not a 64-bit ELF file, or contradict themselves.
struct elf_error {
  std::uint64_t offset;
  char const* cause;
};

struct elf_section {
  std::uint32_t name = 0;  ///< offset in the section of names
  std::uint32_t type = 0;  ///< SHT_SYMTAB, …
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;  ///< of a symbol table: the section of its names
};

/// An ELF file in memory, which must outlive the reader. Needs its header only until sections are
/// read. All members throw out_of_bytes for what is past the end.
class elf_reader {
 public:
  /// @throws elf_error not a 64-bit little-endian ELF file.
  explicit elf_reader(bytes_view bytes);

  [[nodiscard]] std::uint16_t type() const { return type_; }        ///< ET_REL, …
  [[nodiscard]] std::uint16_t machine() const { return machine_; }  ///< EM_X86_64, …
  [[nodiscard]] std::uint8_t abi_version() const;
  [[nodiscard]] std::uint32_t flags() const;

  [[nodiscard]] std::uint16_t section_count() const;
  /// @throws elf_error there is no such section, or headers have an unknown size.
  [[nodiscard]] elf_section section(std::uint32_t index) const;
  [[nodiscard]] bytes_view view(elf_section const& section) const;
  /// The name of a section; empty where it is outside the section of names.
  [[nodiscard]] std::string name(elf_section const& section) const;
  /// Whether the section's name is `name`; costs no more than the length of `name`.
  [[nodiscard]] bool has_name(elf_section const& section, std::string_view name) const;

 private:
  /// The section of names from the name of `section` on; empty where it is outside.
  [[nodiscard]] std::string_view names_from(elf_section const& section) const;

  byte_reader bytes_;
  std::uint16_t type_;
  std::uint16_t machine_;
};

/// The text at `offset` up to a NUL or the end of `strings`; empty past the end.
std::string text_at(bytes_view strings, std::uint64_t offset);

/// The GNU build ID in a segment or section of notes, in hexadecimal; empty where it has none.
/// @throws out_of_bytes
std::string build_id_in(bytes_view notes);

}  // namespace fatlink::detail
