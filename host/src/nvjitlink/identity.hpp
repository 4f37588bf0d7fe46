// SPDX-License-Identifier: Apache-2.0
// What an nvJitLink's file says of itself, read without loading it: a few hundred bytes of an ELF64
// of 95 MB. Source: System V ABI, "Object Files"; the exported names are FACTS'.
#pragma once

#include <optional>
#include <string>

namespace fatlink::detail {

/// What tells this nvJitLink from every other, on any machine: "13.0 157d67e6… 98806736", the
/// newest version it exports ("13.?": it exports none), its build ID (without one, its SHA-256)
/// and its size in bytes. Nothing where `path` is no file or no nvJitLink of CUDA 13.
std::optional<std::string> nvjitlink_identity(std::string const& path);

/// The build ID, in hexadecimal, of the library that `function` is in, as this process has it
/// mapped; empty where it has none. The file of that path may have been replaced since.
std::string mapped_build_id(void const* function);

}  // namespace fatlink::detail
