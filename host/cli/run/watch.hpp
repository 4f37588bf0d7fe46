// SPDX-License-Identifier: Apache-2.0
// Waits for changes of files, by looking at them: this also notices what is done to the target of a
// symbolic link, to a folder that is removed and made again, and on file systems of a network.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fatlink::cli {

class file_watch {
 public:
  file_watch();

  /// Also watches `files`, which need not exist and are not read yet.
  void add(std::vector<std::filesystem::path> const& files);
  /// Also watches `files`, which were read since wait() returned: one that is new to this watch and
  /// was written since then counts as changed.
  void add_read(std::vector<std::filesystem::path> const& files);

  /// Waits until one of the files was written, replaced, made or removed, and then until nothing
  /// changes for 100 ms. Returns the first one. Changes since the last call count.
  [[nodiscard]] std::filesystem::path wait();

 private:
  /// What tells one content of a file from another; of a folder only that it is there.
  struct state {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  ///< 0: there is no file
    std::int64_t size = 0;
    std::int64_t modified_ns = 0;  ///< since 1970
    bool operator==(state const&) const = default;
  };
  [[nodiscard]] static state look_at(std::filesystem::path const& file);
  /// The first file whose state is another than before; empty: none. Updates the states.
  [[nodiscard]] std::filesystem::path find_change();

  std::map<std::filesystem::path, state> files_;
  std::int64_t start_ns_ = 0;  ///< when wait() returned
};

/// Calls `work`, which adds the files that it reads to the watch, reports what it throws, and calls
/// it again after each change, until a signal ends the process or standard output is closed.
/// Helpers stay warm meanwhile. `file` is the one that the text names.
void run_on_changes(std::filesystem::path const& file,
                    std::function<void(file_watch&)> const& work);

}  // namespace fatlink::cli
