// SPDX-License-Identifier: Apache-2.0
// Waits for changes of files, with inotify: editors write files, or replace them. Threads: one at a
// time.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "util/files/read_file.hpp"

namespace fatlink::cli {

class file_watch {
 public:
  /// Watches `files`, which need not exist, and every file of `folders` (not those below them).
  /// @throws file_error a folder cannot be watched.
  file_watch(std::vector<std::filesystem::path> const& files,
             std::vector<std::filesystem::path> const& folders);

  /// Waits until one of them was written, replaced or removed, and then until nothing changes for
  /// 50 ms. Returns the name of the first one. Changes since the last call count.
  [[nodiscard]] std::string wait();

 private:
  void add(std::filesystem::path const& folder);
  /// The name of a watched file in the events that are there, waiting at most `timeout_ms` (-1: any
  /// time); empty if there is none.
  [[nodiscard]] std::string read_events(int timeout_ms);

  detail::descriptor inotify_;
  std::set<std::string> names_;  ///< of the files; in folders that are watched whole, all count
  std::set<int> whole_;          ///< watches of `folders`
};

/// Calls `work`, reports what it throws, and calls it again after each change of `files` or of a
/// file in `folders`, until a signal ends the process. Helpers stay warm meanwhile.
[[noreturn]] void run_on_changes(std::vector<std::filesystem::path> const& files,
                                 std::vector<std::filesystem::path> const& folders,
                                 std::function<void()> const& work);

}  // namespace fatlink::cli
