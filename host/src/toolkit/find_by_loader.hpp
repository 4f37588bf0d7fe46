// SPDX-License-Identifier: Apache-2.0
// Finds the file that the dynamic loader would open for a name, without opening it.
// Source: ld.so(8); the layout of /etc/ld.so.cache is glibc's, elf/cache.c
// ("glibc-ld.so.cache1.1").
#pragma once

#include <optional>
#include <string>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// The file that dlopen(name) would use: one that is loaded already, otherwise the first in the
/// loader's order (the program's RPATH, LD_LIBRARY_PATH, its RUNPATH, ld.so.cache, the system's
/// folders; not their glibc-hwcaps). Empty if there is none. The loader may decide otherwise:
/// callers check the file that was opened.
std::optional<std::string> find_by_loader(std::string const& name);

/// The path of `name` for x86-64 in the bytes of an ld.so.cache; empty if they do not name it, or
/// are damaged.
std::optional<std::string> find_in_loader_cache(bytes_view cache, std::string const& name);

}  // namespace fatlink::detail
