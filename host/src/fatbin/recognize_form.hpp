// SPDX-License-Identifier: Apache-2.0
// Recognizes the format of a file by its content, never by its name: for the readers of inputs, and
// for the error messages about files that are no input.
// Reads the start of the file, and the section names of an ELF file, with bounds checks: a damaged
// or truncated file is described by the part that can be read.
// Threads: no shared state.
#pragma once

#include <string>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// What fatlink knows about a format. All but `other` are input forms; source and LLVM IR are not
/// linked yet.
enum class file_kind { other, fatbin, ptx, ltoir, cubin, object, archive, source, nvvm_ir };

struct file_form {
  file_kind kind = file_kind::other;
  std::string description;  ///< a noun phrase: "PTX text of version 9.0"
  std::string remedy;       ///< how to get a fatbin, or what else to do with the file
};

/// The format of `bytes`, which must not be empty. Unknown data is described by its first bytes.
/// The kind is stated by the first bytes alone: the file may be damaged.
file_form recognize_form(bytes_view bytes);

/// As above, for an ELF file ("\x7f" "ELF"): a cubin, or a host object, library or program with or
/// without device code.
file_form recognize_elf(bytes_view bytes);

/// As above, for text; the description is empty if it is not text.
file_form recognize_text(bytes_view bytes);

/// The remedy for every form that nvcc or another compiler makes.
constexpr char const* k_compile_remedy =
    "a fatbin is required: compile the source with "
    "nvcc -dlto -fatbin -arch=sm_75 FILE.cu -o FILE.fatbin";
/// The remedy for the forms of which a fatbin can be made.
constexpr char const* k_pack_remedy =
    "a fatbin is required: make one of it with fatlink pack -o FILE.fatbin, or compile the source "
    "with nvcc -dlto -fatbin -arch=sm_75 FILE.cu -o FILE.fatbin";

}  // namespace fatlink::detail
