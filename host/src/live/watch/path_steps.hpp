// SPDX-License-Identifier: Apache-2.0
// The folders on the way to a file, through symbolic links: a change in one of them may change what
// the path of the file leads to. Threads: no shared state.
#pragma once

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

namespace fatlink::detail {

/// A name in a folder. An empty name: the file `folder` itself, whatever its name.
struct path_step {
  std::filesystem::path folder = {};  ///< absolute, without symbolic links
  std::string name = {};
  bool is_file = false;  ///< the last name of the path: changes of the content count, too
  bool operator==(path_step const&) const = default;
  bool operator<(path_step const& other) const
  {
    return std::tie(folder, name, is_file) < std::tie(other.folder, other.name, other.is_file);
  }
};

/// The steps from the root to `path`, which is absolute, those to the targets of symbolic links
/// included. Ends at the first name that does not exist.
std::vector<path_step> steps_to(std::filesystem::path const& path);

}  // namespace fatlink::detail
