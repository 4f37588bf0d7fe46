// SPDX-License-Identifier: Apache-2.0
// The tables of a CUDA ELF file that name symbols: relocations, calls and attributes. nvJitLink
// follows them without a check. Threads: no shared state.
#pragma once

#include "cubin/cubin_file.hpp"

namespace fatlink::detail {

/// `file`: whose sections and symbols are checked. @throws elf_error a malformed table.
void check_tables(cubin_file const& file);

}  // namespace fatlink::detail
