// SPDX-License-Identifier: Apache-2.0
// Identifies an nvJitLink from its file, without loading it: reads a few hundred bytes of an ELF64
// file of 95 MB. Source: System V ABI, "Object Files"; the exported names were observed with
// nvJitLink 13.0 to 13.5. Threads: no shared state.
#pragma once

#include <optional>
#include <string>

namespace fatlink::detail {

/// The identity of the nvJitLink in the file `path`, the same on every machine:
/// "13.0 157d67e6… 98806736", the newest version that it exports ("13.?": none), its build ID
/// (without one, its SHA-256) and its size in bytes. Empty if `path` is not a readable nvJitLink of
/// CUDA 13.
std::optional<std::string> nvjitlink_identity(std::string const& path);

/// The build ID, in hexadecimal, of the shared library that holds `function`, as mapped in this
/// process; empty if it has none. The file at its path may have been replaced since.
std::string mapped_build_id(void const* function);

}  // namespace fatlink::detail
