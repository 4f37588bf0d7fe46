// SPDX-License-Identifier: Apache-2.0
// Identifies one of the vendor's shared libraries from its file, without loading it: reads a few
// hundred bytes of an ELF64 file of 100 MB. Source: System V ABI, "Object Files"; the exported
// names were observed with CUDA 13.0 to 13.5. Threads: no shared state.
#pragma once

#include <optional>
#include <string>

#include "toolkit/vendor_library.hpp"

namespace fatlink::detail {

/// The identity of `library` in the file `path`, the same on every machine:
/// "13.0 157d67e6… 98806736", the newest version that it exports ("13.?": none), its build ID
/// (without one, its SHA-256) and its size in bytes. Empty if `path` is not a readable file of that
/// library.
std::optional<std::string> library_identity(std::string const& path, vendor_library const& library);

/// The build ID, in hexadecimal, of the shared library that holds `function`, as mapped in this
/// process; empty if it has none. The file at its path may have been replaced since.
std::string mapped_build_id(void const* function);

}  // namespace fatlink::detail
