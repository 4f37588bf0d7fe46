// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace fatlink::cache {

/// A system call that failed, or a folder that is not safe. Not a fatlink::error: link_cache
/// reports it as a warning, or translates it into a file_error where a command needs the folder.
struct fault {
  std::string message;  ///< "reading /x/y: Input/output error"
  int code;             ///< errno; warnings are reported once for each code
};

/// @throws fault always: `action` on `path` failed with the current errno.
[[noreturn]] void throw_fault(char const* action, std::filesystem::path const& path);

}  // namespace fatlink::cache
