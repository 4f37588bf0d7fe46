// SPDX-License-Identifier: Apache-2.0
// The names of a cubin's functions and variables, which may share bytes and are therefore limited.
// Threads: no shared state.
#pragma once

#include <cstdint>
#include <string>

#include "cubin/cubin_file.hpp"

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

}  // namespace fatlink::detail
