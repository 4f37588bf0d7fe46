// SPDX-License-Identifier: Apache-2.0
// The interface of a cubin, from its symbols, prototypes and attributes.
// Threads: no shared state.
#pragma once

#include "cubin/cubin_file.hpp"
#include "fatlink/ptx_interface.hpp"

namespace fatlink::detail {

/// @throws elf_error, out_of_bytes a malformed file. @throws cubin_above_limit
ptx_interface read_interface(cubin_file const& file);

}  // namespace fatlink::detail
