// SPDX-License-Identifier: Apache-2.0
// Names the format of a file that is not a fatbin, for error messages.
// Reads the start of the file, and the section names of an ELF file, with bounds checks: a damaged
// or truncated file is described by the part that can be read.
// Threads: no shared state.
#pragma once

#include <string>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

struct file_form {
  std::string description;  ///< a noun phrase: "PTX text of version 9.0"
  std::string remedy;       ///< how to get a fatbin, or what else to do with the file
};

/// The format of `bytes`, which must not be empty. Unknown data is described by its first bytes.
file_form recognize_form(bytes_view bytes);

/// As above, for an ELF file ("\x7f" "ELF"): a cubin, or a host object, library or program with or
/// without device code.
file_form recognize_elf(bytes_view bytes);

/// As above, for text; the description is empty if it is not text.
file_form recognize_text(bytes_view bytes);

/// The remedy for every form that nvcc or another compiler makes.
constexpr char const* k_compile_remedy =
    "fatlink takes fatbins: compile the source with "
    "nvcc -dlto -fatbin -arch=sm_75 FILE.cu -o FILE.fatbin";

}  // namespace fatlink::detail
