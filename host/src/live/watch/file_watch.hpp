// SPDX-License-Identifier: Apache-2.0
// Notices changes of files: it looks at them whenever folder_events wakes it, and from time to
// time. So it also notices what is done to the target of a symbolic link, to a folder that is
// removed and made again, and on file systems of a network. Files need not exist. Threads: stop()
// any; the others one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "live/watch/folder_events.hpp"

namespace fatlink::detail {

class file_watch {
 public:
  using clock = folder_events::clock;

  explicit file_watch(bool use_inotify = true);

  /// Also watches `files`, which are not read yet.
  void add(std::vector<std::filesystem::path> const& files);
  /// Also watches `files`, which were read since wait() returned: one that is new to this watch and
  /// was written since then counts as changed.
  void add_read(std::vector<std::filesystem::path> const& files);

  /// Looks at the files: the first that was written, replaced, made or removed since the last look;
  /// empty: none.
  [[nodiscard]] std::filesystem::path find_change();
  /// Waits until it is time to look again: after an event or an interval, at `deadline` or by
  /// stop(). Nothing that happened after the last look is missed.
  void wait_for_event(clock::time_point deadline) { (void)events_.wait(deadline); }

  /// Waits until one of the files changes, and then until nothing changes for 100 ms, but for at
  /// most 2 s. Returns the first one. Changes since the last look count. Empty after stop().
  [[nodiscard]] std::filesystem::path wait();

  /// Makes this and all later waits return.
  void stop() noexcept { events_.interrupt(); }
  [[nodiscard]] bool is_stopped() const noexcept { return events_.is_interrupted(); }

  /// Starts to wait for events of all files now, which the next look does otherwise.
  void follow() { events_.follow(absolute_); }
  /// Why changes are noticed later than they could be, each reason once.
  std::vector<error_details> take_warnings() { return events_.take_warnings(); }

 private:
  /// What tells one content of a file from another; of a folder only that it is there.
  struct state {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  ///< 0: there is no file
    std::int64_t size = 0;
    std::int64_t modified_ns = 0;  ///< since 1970
    std::int64_t changed_ns = 0;   ///< since 1970; of names and permissions, too
    bool operator==(state const&) const = default;
  };
  struct watched {
    std::filesystem::path absolute;
    state known;
  };
  [[nodiscard]] static state look_at(std::filesystem::path const& file);
  bool insert(std::filesystem::path const& file);
  bool is_quiet_for(std::chrono::milliseconds time);

  std::map<std::filesystem::path, watched> files_;  ///< by the path as given
  std::vector<std::filesystem::path> absolute_;     ///< of all files
  folder_events events_;
  std::int64_t start_ns_ = 0;  ///< when wait() returned
};

}  // namespace fatlink::detail
