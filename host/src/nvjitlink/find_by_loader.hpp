// SPDX-License-Identifier: Apache-2.0
// Which file the dynamic loader would open for a name, without opening it.
// Source: ld.so(8); the layout of /etc/ld.so.cache is glibc's, elf/cache.c
// ("glibc-ld.so.cache1.1").
#pragma once

#include <optional>
#include <string>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// The file that dlopen(name) would use: one loaded already; else the first in the loader's own
/// order (the program's RPATH, LD_LIBRARY_PATH, its RUNPATH, ld.so.cache, the system's folders; not
/// their glibc-hwcaps). Who keeps what came of it checks what was opened in the end.
std::optional<std::string> find_by_loader(std::string const& name);

/// Where the bytes of an ld.so.cache say that `name` is, for x86-64; nothing for damaged ones.
std::optional<std::string> find_in_loader_cache(bytes_view cache, std::string const& name);

}  // namespace fatlink::detail
