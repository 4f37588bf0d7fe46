// SPDX-License-Identifier: Apache-2.0
// The headers of the sections of a CUDA ELF file, and the flags that name one of them.
// nvJitLink uses sizes, alignments and owners without a check. Threads: no shared state.
#pragma once

#include "cubin/cubin_file.hpp"

namespace fatlink::detail {

/// Whether `value` is a power of two, and not so large that nvJitLink does not end.
bool is_alignment(std::uint64_t value);

/// Whether a name in `names` begins at `offset`, which is inside. Compilers do not share the ends
/// of names.
bool is_whole_name(bytes_view names, std::uint64_t offset);

/// Requires names that are each terminated by a NUL. @throws elf_error `offset`: of the table.
void check_names(bytes_view names, std::uint64_t offset);

/// @throws elf_error, out_of_bytes malformed sections.
void check_sections(cubin_file const& file);

}  // namespace fatlink::detail
