// SPDX-License-Identifier: Apache-2.0
// Names of temporary files, which a signal handler can remove before the process ends.
// Threads: any; remove_temporaries() is async-signal-safe.
#pragma once

#include <string>

namespace fatlink::detail {

/// Registers a name while it lives. Neither creates nor removes the file.
class temporary_name {
 public:
  /// `path` is relative to the open `folder` (AT_FDCWD: the working folder). Construct it before
  /// the file is created.
  temporary_name(int folder, std::string path);
  ~temporary_name();
  temporary_name(temporary_name const&) = delete;
  temporary_name& operator=(temporary_name const&) = delete;

  [[nodiscard]] std::string const& path() const noexcept { return path_; }
  [[nodiscard]] char const* c_str() const noexcept { return path_.c_str(); }
  void remove() const noexcept;  ///< deletes the file, keeping errno

 private:
  int folder_;
  std::string path_;
  int slot_ = -1;  ///< -1: no slot was free, so handlers do not know the name
};

/// `path` with 16 random hexadecimal digits after a dot.
std::string add_random(std::string const& path);

/// Deletes the files of all registered names. For handlers that end the process: a thread that
/// destroys one of the names at the same time waits forever.
void remove_temporaries() noexcept;

}  // namespace fatlink::detail
