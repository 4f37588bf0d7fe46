// SPDX-License-Identifier: Apache-2.0
// Watches input files and reads each new version of them, for hosts that take new device code while
// they run:
//
//   auto const watch = fatlink::watch(
//       files, [&](std::vector<fatlink::input> inputs) { live.swap(inputs); },
//       [](std::exception const& failure) { log(failure.what()); });
//
// A file and its sidecar (.json) are one unit: they may be replaced one after the other, in either
// order, by renaming or by writing in place. A version is complete when every file can be read and
// has the digest that its sidecar states; until then the watch waits, at most for a limit. Changes
// are noticed by inotify, and by looking at the files where that cannot be used. What counts is
// what the paths lead to, through symbolic links, also in folders that are removed and made again;
// the files need not exist yet. docs/watching.md describes which replacements are safe. Linux only.
// Units: milliseconds.
#pragma once

#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/export.hpp"
#include "fatlink/input.hpp"

namespace FATLINK_API fatlink {

/// How files are watched.
struct watch_options {
  /// How long a version may be incomplete after the last change, before that is an error; ten times
  /// as long while files keep changing. Above 0; more than a day counts as a day.
  std::chrono::milliseconds limit{2000};
  /// The versions of the files that are in use already, in their order; empty: none. A version with
  /// the same bytes is not returned. Without them, the first version is the one that is there.
  std::vector<input> known = {};
  /// False: the files are looked at every 100 ms.
  bool use_inotify = true;
};

/// Watches files, for a thread that waits. Threads: stop() any; the others one at a time. In a
/// child process that fork made, the watch goes on, with a queue of events of its own.
class input_watch {
 public:
  /// Watches `files`, in the order of the inputs that wait() returns; relative paths are made
  /// absolute.
  /// @throws usage_error there is no file, `known` has another number of files, or the limit is 0
  ///   or less.
  explicit input_watch(std::vector<std::filesystem::path> files, watch_options options = {});
  ~input_watch();
  input_watch(input_watch const&) = delete;
  input_watch& operator=(input_watch const&) = delete;

  /// Waits for a complete version that differs from the last one in the bytes of a file or of a
  /// sidecar, and returns it; nothing after `timeout`, or after stop(). Versions that are replaced
  /// quickly may be skipped; the newest one is always returned.
  /// @throws file_error, format_error the version is still not complete after the limit: a file is
  ///   missing or damaged, or is not the one that its sidecar states (digest-mismatch; the message
  ///   names both files and both digests). Thrown once; the watch goes on.
  std::optional<std::vector<input>> wait(std::chrono::milliseconds timeout);

  /// The text of the sidecar of each file, of the version that wait() returned last; empty: there
  /// is none. Where it states a digest, it is that of the file.
  [[nodiscard]] std::vector<std::string> const& sidecars() const noexcept;

  /// Makes this and all later calls of wait() return nothing.
  void stop() noexcept;
  /// Whether stop() was called.
  [[nodiscard]] bool is_stopped() const noexcept;

  /// Why changes are noticed later than they could be, each reason once: inotify cannot be used.
  /// The hint names the sysctl, the code is that of errno: ENOSPC, EMFILE.
  std::vector<error_details> take_warnings();

 private:
  struct FATLINK_PRIVATE state;
  std::unique_ptr<state> state_;
};

/// A watch with a thread of its own, made by watch(). Stops watching when it is destroyed, after a
/// call that is being made has returned; do not destroy it in one. In a child process that fork
/// made there is no such thread, and destroying it does nothing.
class [[nodiscard]] background_watch {
 public:
  /// What is called with each new version; may throw exceptions of std::exception's family.
  using version_function = std::function<void(std::vector<input> inputs)>;
  /// What is called with each error; must not throw.
  using error_function = std::function<void(std::exception const& failure)>;

  /// As watch().
  background_watch(std::vector<std::filesystem::path> files, version_function on_version,
                   error_function on_error, watch_options options = {});
  ~background_watch();
  background_watch(background_watch const&) = delete;
  background_watch& operator=(background_watch const&) = delete;

 private:
  struct FATLINK_PRIVATE state;
  std::unique_ptr<state> state_;
};

/// Watches `files` in a thread of its own, which calls `on_version` with each complete version of
/// them, the first one included, one call at a time. `on_error` gets what input_watch::wait and
/// `on_version` throw, and an unavailable_error if inotify cannot be used (code ENOSPC or EMFILE,
/// for example); the watch goes on after each.
/// @throws usage_error as input_watch; or one of the functions is empty.
background_watch watch(std::vector<std::filesystem::path> files,
                       background_watch::version_function on_version,
                       background_watch::error_function on_error, watch_options options = {});

}  // namespace fatlink
