// SPDX-License-Identifier: Apache-2.0
// Finds the device code in 64-bit ELF files of the host (x86-64, AArch64). nvcc -dc and nvcc -dlto
// -c write relocatable device code into the section __nv_relfatbin: one fatbin container for each
// translation unit, so that `ld -r` and a program's link put several one after the other.
// (nvJitLink links the first of them only.) Device code in .nv_fatbin is a whole program and cannot
// be linked.
//
// Programs and shared libraries (ET_EXEC, ET_DYN) are read like objects: they keep the section, and
// nvJitLink takes them as objects, too.
//
// Source: System V ABI, "Object Files"; sections: observed with nvcc 13.0, pinned by tests/unit.
// Threads: no shared state.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

struct object_code {
  std::vector<bytes_view> containers = {};  ///< relocatable device code; each has an entry
  bool has_whole_program = false;           ///< the object has a section .nv_fatbin
  bool has_host_lto = false;                ///< it has sections of gcc -flto
};

/// The device code in `object`, in file order; it points into `object`. `name` is the file's, for
/// messages.
/// @throws format_error (stage input) corrupt-object: not ELF, a section or container that is
///   damaged, or a size past the end, with the byte offset; above-limit: 65,280 sections or more,
///   or as read_fatbin.
object_code read_object(bytes_view object, std::string_view name);

/// @throws format_error (stage input) no-device-code: gcc -flto hides it, and what to do.
[[noreturn]] void refuse_host_lto(std::string_view name);
/// @throws format_error (stage input) no-device-code: `cause`, and how to compile for linking.
[[noreturn]] void refuse_without_device_code(std::string_view name, char const* cause);

}  // namespace fatlink::detail
