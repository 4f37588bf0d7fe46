// SPDX-License-Identifier: Apache-2.0
// The structure of a CUDA ELF file, checked as a whole before anything is read from it: sections,
// symbols, the tables that name symbols, and segments. nvJitLink crashes on many files that are
// damaged there; and the errors of such a file. Source: System V ABI, "Object Files"; no public
// specification of what CUDA adds: observed with CUDA 12.9 to 13.5, pinned by tests/unit. The
// bytes: docs/cubin_format.md. Threads: no shared state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cubin/cubin.hpp"
#include "fatlink/bytes.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/bytes/elf_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

/// What CUDA adds to ELF.

namespace cuda_elf {

constexpr std::uint32_t k_info = 0x70000000;         ///< sh_type: attributes of functions
constexpr std::uint32_t k_callgraph = 0x70000001;    ///< sh_type
constexpr std::uint32_t k_prototype = 0x70000002;    ///< sh_type
constexpr std::uint32_t k_global = 0x70000007;       ///< sh_type: zeroed variables, no bytes
constexpr std::uint32_t k_initialized = 0x70000008;  ///< sh_type: variables with initial value
constexpr std::uint32_t k_local = 0x70000009;        ///< sh_type: no bytes
constexpr std::uint32_t k_shared = 0x7000000A;       ///< sh_type: no bytes
constexpr std::uint32_t k_reserved = 0x70000015;     ///< sh_type: no bytes

constexpr std::uint64_t k_is_mercury = 0x10000000;  ///< sh_flags, for sm_100 and newer

constexpr std::uint32_t k_mercury_code = 0x70000016;         ///< sh_type
constexpr std::uint32_t k_mercury_relocations = 0x70000082;  ///< sh_type
constexpr std::uint32_t k_mercury_info = 0x70000083;         ///< sh_type
constexpr std::uint32_t k_mercury_optimizer = 0x70000084;    ///< sh_type: constants
constexpr std::uint32_t k_mercury_symbols = 0x70000085;      ///< sh_type
constexpr std::uint32_t k_constant = 0x70000064;  ///< sh_type: bank 0; the next 63: others

constexpr std::uint64_t k_unknown_value = ~std::uint64_t{0};  ///< st_value of undefined variables
constexpr std::uint8_t k_variable = 13;  ///< st_type of variables in relocatable files
constexpr std::uint8_t k_in_global =
    0x20;  ///< st_other of a variable, with k_is_managed or without
constexpr std::uint8_t k_is_managed = 0x04;
constexpr std::uint8_t k_in_shared = 0x40;
constexpr std::uint8_t k_in_constant = 0x80;
constexpr std::uint8_t k_in_reserved = 0xA0;  ///< a variable of the toolkit's own
constexpr std::uint8_t k_memories = k_in_global | k_in_shared | k_in_constant;
constexpr std::uint8_t k_is_kernel = 0x10;  ///< st_other of a function

constexpr std::uint8_t k_abi_of_cuda_12 = 0x33;  ///< up to CUDA 12, below sm_100
constexpr std::uint8_t k_abi = 0x41;

}  // namespace cuda_elf

/// Whether the section has bytes in the file.
bool has_bytes(elf_section const& section);

/// The cubin is above one of fatlink's limits.
struct cubin_above_limit {
  std::uint64_t offset;
  std::string excess;  ///< "declares more than 7 functions"
};

/// A CUDA ELF file in memory, which must outlive this object.
class cubin_file {
 public:
  /// Checks the structure. @throws elf_error, out_of_bytes a malformed file.
  explicit cubin_file(bytes_view bytes);

  [[nodiscard]] elf_reader const& elf() const noexcept { return elf_; }
  [[nodiscard]] std::vector<elf_section> const& sections() const noexcept { return sections_; }
  [[nodiscard]] elf_symbols const& symbols() const noexcept { return symbols_; }
  /// The index of the section that holds the symbols.
  [[nodiscard]] std::uint32_t symbol_section() const noexcept { return symbol_section_; }

  /// The bytes of a section; empty where it has none in the file.
  [[nodiscard]] bytes_view content(elf_section const& section) const;
  /// The names of the symbols from `offset` on, of which the last is terminated.
  /// @throws elf_error `offset`, which stands at `place` in the file, is outside.
  [[nodiscard]] std::string_view names_from(std::uint32_t offset, std::uint64_t place) const;

 private:
  void check_header(bytes_view bytes) const;

  elf_reader elf_;
  std::vector<elf_section> sections_;
  std::uint32_t symbol_section_;
  elf_symbols symbols_;
};

/// @throws format_error always: code corrupt-cubin.
[[noreturn]] void fail_corrupt(cubin_name const& name, std::uint64_t offset,
                               std::string const& cause);

/// @throws format_error always: code above-limit.
[[noreturn]] void fail_above_limit(cubin_name const& name, cubin_above_limit const& limit);

/// Returns what `read()` returns. @throws format_error with `name`, for a malformed file.
template <typename Read>
auto read_named(cubin_name const& name, Read const& read)
try {
  return read();
} catch (elf_error const& error) {
  fail_corrupt(name, error.offset, error.cause);
} catch (out_of_bytes const& end) {
  fail_corrupt(name, end.offset,
               detail::format("truncated: {} bytes are needed here, there are {} in all",
                              end.wanted, end.size));
} catch (cubin_above_limit const& limit) {
  fail_above_limit(name, limit);
}

}  // namespace fatlink::detail
