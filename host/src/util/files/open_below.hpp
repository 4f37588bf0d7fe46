// SPDX-License-Identifier: Apache-2.0
// Opens files below a folder that the caller may read, and no others, also while another process
// replaces folders and links: the kernel resolves the name (openat2, Linux 5.6). Older kernels:
// the name is resolved first and the file that was opened is compared. Threads: no shared state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "util/files/read_file.hpp"

namespace fatlink::detail {

enum class file_kind_below {
  missing,
  outside,    ///< by "..", or by a symbolic link, whether there is a file or not
  irregular,  ///< a FIFO, a device
  folder,
  unreadable,  ///< the user may not read it
  regular
};

struct file_below {
  file_kind_below kind = file_kind_below::missing;
  std::unique_ptr<descriptor> file = {};  ///< of a regular file
  std::uint64_t size = 0;                 ///< bytes
};

/// A folder, which stays the same although its path may be replaced.
class base_folder {
 public:
  /// `path`: without symbolic links, as fs::canonical makes it. A path that is not a folder has no
  /// files.
  explicit base_folder(std::filesystem::path path);

  [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }
  /// What `name`, relative and normal, is; nothing is opened for reading.
  [[nodiscard]] file_kind_below kind_of(std::string const& name) const;
  /// Opens it for reading.
  [[nodiscard]] file_below open(std::string const& name) const;

 private:
  [[nodiscard]] file_below open(std::string const& name, int flags) const;
  [[nodiscard]] int open_resolved(std::string const& name, int flags) const;

  std::filesystem::path path_;
  std::shared_ptr<descriptor> folder_;
};

}  // namespace fatlink::detail
