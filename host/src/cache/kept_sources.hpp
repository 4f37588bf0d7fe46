// SPDX-License-Identifier: Apache-2.0
// Sources in memory that were compiled with line information, kept as files in the user's folder,
// so that the line tables name files that debuggers and profilers find:
// <file> ::= "sources/" stem "." 16 hexadecimal digits of the SHA-256 of the text "." extension
// They do not count towards the limit of the cache. When a source is added, those used least
// recently are removed until at most 1,024 files and 64 MiB remain with it, or it is the only one.
// Threads: safe.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "cache/folder.hpp"

namespace fatlink::cache {

/// The absolute path of a file with `text` in `cache_folder`, the user's folder; written if it is
/// not there. `name`: of the source, without a folder.
/// @throws folder_error the folder is not safe to use, cannot be written, or has a path that a
///   #line directive cannot name.
std::filesystem::path keep_source(std::filesystem::path const& cache_folder,
                                  std::string const& name, std::string_view text);

/// Removes all kept sources. @throws folder_error
void remove_kept_sources(folder const& cache_folder);

}  // namespace fatlink::cache
