// SPDX-License-Identifier: Apache-2.0
// Wakes a thread when something happens to files or to a folder on the way to them, by inotify.
// It does not report what happened; the thread that it wakes looks at the files. So events that
// were lost (an overflow of the kernel's queue) or that never come (file systems of a network,
// folders that cannot be read) delay a wake-up to the next interval, and nothing else. A child
// process that fork made has events of its own from its first call on. Threads: interrupt() any;
// the others one at a time.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "fatlink/error.hpp"

namespace fatlink::detail {

/// A folder on the way to a file, through symbolic links, and a name in it: a change there may
/// change what the path of the file leads to. An empty name: the file `folder` itself, whatever its
/// name.
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

class folder_events {
 public:
  using clock = std::chrono::steady_clock;

  /// How long a wait lasts at most: with events, as a safety net; and without.
  static constexpr std::chrono::milliseconds k_long_interval{2000};
  static constexpr std::chrono::milliseconds k_short_interval{100};

  explicit folder_events(bool use_inotify = true);
  ~folder_events();
  folder_events(folder_events const&) = delete;
  folder_events& operator=(folder_events const&) = delete;

  /// From now on, wakes for `files`, absolute paths, which need not exist, and for no others. Call
  /// it before looking at them: what changes later is not missed. Cheap where nothing changed.
  void follow(std::vector<std::filesystem::path> const& files);

  /// Waits for an event, an interval, or `deadline`; returns at once after interrupt(). Returns
  /// whether there was an event.
  bool wait(clock::time_point deadline);

  /// Makes this and all later calls of wait() return.
  void interrupt() noexcept;
  [[nodiscard]] bool is_interrupted() const noexcept { return is_interrupted_; }

  /// Whether events come for all files; otherwise they are looked at every short interval.
  [[nodiscard]] bool has_events() const noexcept { return inotify_ >= 0 && !is_blind_; }

  /// Why inotify cannot be used, each reason once.
  std::vector<error_details> take_warnings();

 private:
  void open();
  void close() noexcept;
  void reopen_after_fork();
  [[nodiscard]] std::set<path_step> find_steps(
      std::vector<std::filesystem::path> const& files) const;
  void watch(std::set<path_step> const& steps);
  void watch_folder(std::filesystem::path const& folder, std::uint32_t mask,
                    std::set<std::string> const& names,
                    std::map<int, std::set<std::string>>& watched);
  void give_up(int code, char const* cause, char const* remedy);
  void read_events();
  bool concerns(int descriptor, std::uint32_t mask, char const* name);

  bool const use_inotify_;
  int inotify_ = -1;  ///< -1: not used
  int wake_ = -1;     ///< an eventfd
  ::pid_t process_ = -1;
  std::atomic<bool> is_interrupted_ = false;
  std::map<int, std::set<std::string>> names_ = {};  ///< that matter, by watch descriptor
  std::vector<std::filesystem::path> files_ = {};    ///< that are followed
  bool is_stale_ = true;                             ///< a folder on the way may be another one now
  bool is_blind_ = false;
  bool has_event_ = false;
  std::vector<error_details> warnings_ = {};
};

}  // namespace fatlink::detail
