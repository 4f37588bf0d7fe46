// SPDX-License-Identifier: Apache-2.0
// Writes files: to descriptors; to files without a name, which disappear with their last
// descriptor; under temporary names, which a signal handler can remove before the process ends; and
// output files.
//
// An output file appears at its path only by commit(), complete: it is written without a name,
// where the file system has such files (O_TMPFILE), else beside the path under a temporary name. A
// device or FIFO is written directly. A symbolic link stays: the file that it leads to is replaced,
// or created. The process's umask is read, never changed.
//
// Threads: temporary names any, and remove_temporaries() is async-signal-safe; otherwise no shared
// state.
#pragma once

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// Writes all of `bytes`; continues after interrupted and short writes, and waits if the descriptor
/// is non-blocking and full. Returns false and sets errno at the first write that fails.
bool write_all(int file, bytes_view bytes) noexcept;

/// Prevents a signal raised by a write (SIGPIPE: the reader is gone; SIGXFSZ: the file exceeds the
/// process's limit) from ending the host process: the write fails instead. While it lives, discards
/// `signal` when this thread raises it. The host's handlers and other threads' masks are not
/// changed.
class signal_guard {
 public:
  explicit signal_guard(int signal) noexcept;
  ~signal_guard();  ///< keeps errno
  signal_guard(signal_guard const&) = delete;
  signal_guard& operator=(signal_guard const&) = delete;

 private:
  sigset_t signal_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

/// `opened`, or, if that is 0, 1 or 2, a copy with a higher number, which replaces it: in a process
/// with closed standard streams, the file would receive what other code prints. -1 sets errno.
int avoid_standard_streams(int opened) noexcept;

/// $TMPDIR, else /tmp; it need not exist.
std::filesystem::path scratch_folder();

/// As above, for temporary data: if the file system of `folder` has no unnamed files, creates a
/// file and removes its name immediately. -1 sets errno.
int open_scratch(std::filesystem::path const& folder);

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

namespace fatlink {

class output_file {
 public:
  /// Opens a file that will be at `path`. @throws file_error names `path` and the cause.
  explicit output_file(std::filesystem::path path);
  /// Keeps the bytes in an unnamed temporary file and copies them to `stream`, an open descriptor,
  /// by commit(); `stream` stays open. Errors call it `name`. @throws file_error no temporary file.
  output_file(int stream, std::string name);
  ~output_file();  ///< without commit(): removes the temporary
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  /// What errors call it.
  [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }
  /// @throws file_error a failed or short write.
  void write(bytes_view bytes);
  /// Flushes and puts the file in place. @throws file_error as write; code EPIPE where the reader
  ///   of a pipe has gone.
  void commit();

 private:
  struct temporary;
  void open_beside();
  void put_in_place();
  void copy_to_stream();
  [[noreturn]] void fail(char const* doing) const;

  std::filesystem::path path_;
  std::filesystem::path destination_;  ///< path_ without symbolic links at its end
  int descriptor_ = -1;
  int stream_ = -1;                       ///< what commit() copies to; -1: none
  bool is_unnamed_ = false;               ///< commit() gives the file its name
  std::unique_ptr<temporary> temporary_;  ///< the name that commit() changes; null: none
};

}  // namespace fatlink
