// SPDX-License-Identifier: Apache-2.0
// Watches input files and reads each new version of them, for hosts that replace device code while
// they run.
//
//   auto const watch = fatlink::watch(
//       files, [&](std::vector<fatlink::input> inputs) { live.swap(inputs); },
//       [](std::exception const& failure) { log(failure.what()); });
//
// A file and its sidecar (.json) are one unit. They may be replaced one after the other, in either
// order, by renaming or by writing in place. A version is complete when every file can be read and
// has the digest that its sidecar states; until then the watch waits, up to a limit. Changes are
// detected with inotify, or by polling if inotify cannot be used. The watch follows the paths
// through symbolic links, and through folders that are removed and created again; the files need
// not exist yet. docs/watching.md describes which replacements are safe. Linux only.
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
  /// How long a version may be incomplete after the last change before this is an error; above 0.
  /// While files keep changing, the limit is ten times as long. Values above one day count as one
  /// day.
  std::chrono::milliseconds limit{2000};
  /// The inputs that are already in use, in the order of the files. A version with the same bytes
  /// is not returned. Empty: the current version of the files is returned first.
  std::vector<input> known = {};
  /// Whether to use inotify; otherwise the files are polled every 100 ms.
  bool use_inotify = true;
};

/// Watches files for a thread that calls wait().
/// Threads: any thread may call stop(); the other functions may be called by one thread at a time.
/// Fork: in a child process the watch continues with its own event queue.
class input_watch {
 public:
  /// Watches `files`, in the order of the inputs that wait() returns; relative paths are made
  /// absolute.
  /// @throws usage_error `files` is empty, `known` has a different number of files, or the limit is
  ///   not above 0.
  explicit input_watch(std::vector<std::filesystem::path> files, watch_options options = {});
  ~input_watch();
  input_watch(input_watch const&) = delete;
  input_watch& operator=(input_watch const&) = delete;

  /// Waits for a complete version that differs from the last one in the bytes of a file or sidecar,
  /// and returns it. Returns nullopt after `timeout` or stop(). Versions that are replaced quickly
  /// may be skipped; the newest version is always returned.
  /// @throws file_error, format_error the version is still incomplete after the limit: a file is
  ///   missing or damaged, or does not have the digest that its sidecar states (digest-mismatch;
  ///   the message names both files and both digests). Each such error is thrown once, and the
  ///   watch continues.
  std::optional<std::vector<input>> wait(std::chrono::milliseconds timeout);

  /// The text of each file's sidecar, in the version that wait() returned last; empty: the file has
  /// none. A digest that it states matches the file.
  [[nodiscard]] std::vector<std::string> const& sidecars() const noexcept;

  /// Makes the current and all later calls of wait() return nullopt.
  void stop() noexcept;
  /// Whether stop() was called.
  [[nodiscard]] bool is_stopped() const noexcept;

  /// The reasons why inotify cannot be used, so that changes are detected later; each reason is
  /// returned once. The hint names the sysctl, and the code is the errno name: ENOSPC, EMFILE.
  std::vector<error_details> take_warnings();

 private:
  struct FATLINK_PRIVATE state;
  std::unique_ptr<state> state_;
};

/// A watch with its own thread, created by watch(). Its destructor waits until a running callback
/// has returned, and stops the watch; do not destroy it in a callback.
/// Fork: a child process does not have the thread, and destroying the watch does nothing there.
class [[nodiscard]] background_watch {
 public:
  /// Called with each new version; may throw exceptions derived from std::exception.
  using version_function = std::function<void(std::vector<input> inputs)>;
  /// Called with each error; must not throw.
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

/// Watches `files` in its own thread, which calls `on_version` with each complete version,
/// including the first; it makes one call at a time. It calls `on_error` with the exceptions of
/// input_watch::wait and `on_version`, and with an unavailable_error if inotify cannot be used
/// (code ENOSPC or EMFILE, for example). The watch continues after each error.
/// @throws usage_error as input_watch; or a function is empty.
background_watch watch(std::vector<std::filesystem::path> files,
                       background_watch::version_function on_version,
                       background_watch::error_function on_error, watch_options options = {});

}  // namespace fatlink
