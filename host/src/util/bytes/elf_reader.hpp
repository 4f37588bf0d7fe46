// SPDX-License-Identifier: Apache-2.0
// Reads 64-bit little-endian ELF files: header, segments, sections, symbols, notes. Every offset
// and size is checked. Source: System V ABI, "Object Files"; field offsets by the system's elf.h.
// Threads: no shared state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  std::uint64_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;  ///< of a symbol table: the section of its names
  std::uint32_t info = 0;  ///< with SHF_INFO_LINK: the section that it belongs to
  std::uint64_t alignment = 0;
  std::uint64_t entry_size = 0;  ///< of a table; 0 otherwise
};

/// A program header.
struct elf_segment {
  std::uint32_t type = 0;  ///< PT_LOAD, …
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;  ///< in the file
};

/// Where a table lies in the file.
struct elf_table {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct elf_symbol {
  std::uint32_t name = 0;    ///< offset in the table's names
  std::uint8_t type = 0;     ///< STT_FUNC, …
  std::uint8_t binding = 0;  ///< STB_GLOBAL, …
  std::uint8_t other = 0;    ///< visibility, and bits of the machine
  std::uint16_t section = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

/// An ELF file in memory, which must outlive the reader. Needs its header only until sections are
/// read. All members throw out_of_bytes for what is past the end.
class elf_reader {
 public:
  /// @throws elf_error not a 64-bit little-endian ELF file.
  explicit elf_reader(bytes_view bytes);

  [[nodiscard]] std::uint16_t type() const { return type_; }        ///< ET_REL, …
  [[nodiscard]] std::uint16_t machine() const { return machine_; }  ///< EM_X86_64, …
  [[nodiscard]] std::uint8_t os_abi() const;
  [[nodiscard]] std::uint32_t version() const;  ///< e_version: of cubins, it is not always 1
  [[nodiscard]] std::uint32_t flags() const;

  /// Where the section headers are.
  [[nodiscard]] elf_table section_table() const;
  /// Where the program headers are, for read_segments.
  /// @throws elf_error they have an unknown size.
  [[nodiscard]] elf_table segment_table() const;

  [[nodiscard]] std::uint16_t section_count() const;
  [[nodiscard]] std::uint16_t section_of_names() const;
  /// @throws elf_error there is no such section, or headers have an unknown size.
  [[nodiscard]] elf_section section(std::uint32_t index) const;
  [[nodiscard]] bytes_view view(elf_section const& section) const;
  /// The name of a section; empty where it is outside the section of names.
  [[nodiscard]] std::string name(elf_section const& section) const;
  /// Whether the section's name is `name`; costs no more than the length of `name`.
  [[nodiscard]] bool has_name(elf_section const& section, std::string_view name) const;
  /// Whether the section's name begins with `beginning`.
  [[nodiscard]] bool name_starts_with(elf_section const& section, std::string_view beginning) const;

 private:
  /// The section of names from the name of `section` on; empty where it is outside.
  [[nodiscard]] std::string_view names_from(elf_section const& section) const;

  byte_reader bytes_;
  std::uint16_t type_;
  std::uint16_t machine_;
};

/// The symbols of one table. The bytes of the file must outlive it.
class elf_symbols {
 public:
  /// @throws elf_error entries of unknown size, or names in a section that is not there.
  /// @throws out_of_bytes
  elf_symbols(elf_reader const& elf, elf_section const& table);

  [[nodiscard]] std::uint64_t count() const { return table_.size() / k_size; }
  [[nodiscard]] bytes_view names() const { return names_; }  ///< each terminated by NUL
  /// @throws out_of_bytes
  [[nodiscard]] elf_symbol operator[](std::uint64_t index) const;
  /// The offset of a symbol in the file.
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t index) const
  {
    return offset_ + index * k_size;
  }
  /// The name of symbol `index`. @throws elf_error it is outside the table of names.
  [[nodiscard]] std::string name(std::uint64_t index) const;

 private:
  static constexpr std::uint64_t k_size = 24;

  byte_reader table_;
  bytes_view names_;
  std::uint64_t offset_;
};

/// The program headers in `table`, of which elf_reader::segment_table tells the place.
std::vector<elf_segment> read_segments(bytes_view table);

/// The text at `offset` up to a NUL or the end of `strings`; empty past the end.
std::string text_at(bytes_view strings, std::uint64_t offset);

/// The GNU build ID in a segment or section of notes, in hexadecimal; empty where it has none.
/// @throws out_of_bytes
std::string build_id_in(bytes_view notes);

}  // namespace fatlink::detail
