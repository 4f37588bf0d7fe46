// SPDX-License-Identifier: Apache-2.0
// The symbols of a CUDA ELF file: their places, and the functions that code names. Threads: no
// shared state.
#pragma once

#include "cubin/cubin_file.hpp"

namespace fatlink::detail {

/// After check_sections(). @throws elf_error malformed symbols.
void check_symbols(cubin_file const& file);

}  // namespace fatlink::detail
