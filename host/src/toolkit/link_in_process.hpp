// SPDX-License-Identifier: Apache-2.0
// One call of nvJitLink in the process that calls this: the host's or the helper's. Every result is
// checked. The inputs are trusted: callers run preflight first. Threads: safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/image.hpp"
#include "toolkit/nvjitlink.hpp"

namespace fatlink::detail {

/// One input of a link as nvJitLink receives it: a fatbin with exactly one entry, written by
/// write_fatbin(). nvJitLink receives nothing else, so it cannot choose an entry that preflight did
/// not check. Immutable.
class link_input {
 public:
  /// Writes `entry`, one of `file`.
  /// @throws format_error its PTX or SASS does not decompress.
  static link_input write(fatbin const& file, fatbin_entry const& entry);
  /// Writes PTX that fatlink generated.
  static link_input from_ptx(std::string_view text, target architecture, std::string name);
  /// Reads bytes that another process wrote.
  /// @throws format_error the bytes are not what write() returns: not a fatbin, or not exactly one
  ///   entry.
  static link_input read(bytes_view bytes, std::string name);

  [[nodiscard]] std::string const& name() const noexcept { return name_; }  ///< name of the file
  [[nodiscard]] bytes_view bytes() const noexcept { return bytes_; }
  /// Whether it is SASS of a file without digests: damage to it shows, if at all, as a crash of
  /// nvJitLink. Only known of write().
  [[nodiscard]] bool is_unverified_sass() const noexcept { return is_unverified_sass_; }

 private:
  link_input(std::string name, byte_buffer bytes, bool is_unverified_sass = false)
      : name_(std::move(name)), bytes_(std::move(bytes)), is_unverified_sass_(is_unverified_sass)
  {
  }

  std::string name_;
  byte_buffer bytes_;
  bool is_unverified_sass_;
};

/// The result of a link.
struct link_product {
  byte_buffer bytes = {};
  std::vector<std::string> warnings = {};  ///< lines of the logs, without progress reports
  double ms = 0;                           ///< wall time of the link
};

/// Returns what this process has printed on standard error since the previous call.
using printed_text = std::function<std::string()>;

/// Links `inputs` with nvJitLink's own `options`. `printed`: for a process in which only nvJitLink
/// writes to standard error; empty: what nvJitLink prints is not read.
/// @throws link_error nvJitLink reports a failure, there is an error line in `printed` or in a log
///   (is_error_line), or the image is empty. The error carries all logs.
link_product link_in_process(nvjitlink const& nvjitlink, std::vector<link_input> const& inputs,
                             std::vector<std::string> const& options, image_kind emit,
                             printed_text const& printed = {});

/// Lines that nvJitLink writes to its logs and to standard error. Its result code is not enough: a
/// mismatched prototype is an error line of a link that returns success. Measured with nvJitLink
/// 13.0 to 13.5. Whether `line` reports an error: it begins with `error` or `fatal` in any case,
/// after blanks, the mark `@E@`, the name of a tool ("ptxas fatal   : …") and the place in PTX
/// ("ptxas application ptx input, line 25; error   : …").
bool is_error_line(std::string_view line);

/// Whether `line` reports progress and is not a warning: "SUCCESS: …" (13.4), "INFO: …" (13.5).
bool is_progress_line(std::string_view line);

/// The lines of `text` that are not empty.
std::vector<std::string> lines_of(std::string const& text);

/// The first error line of `text`; empty if there is none.
std::string first_error_line(std::string const& text);

/// The name in single quotes after `text`, which ends with the first quote; empty where `line` does
/// not hold `text`.
std::string quoted_after(std::string_view line, std::string_view text);

/// Exists while one link runs in this process. Threads: each link has its own.
///
/// Keeps nvJitLink from running in this process in two situations: at the end of the process, when
/// its static objects are destroyed, and in a child that was forked during another thread's link,
/// which inherits that thread's locks but not the thread.
///
/// When the main thread returns from `main` or calls exit, the C library first destroys the
/// thread_local objects of that thread, and then runs the exit handlers, which include nvJitLink's
/// destructors. Therefore a thread_local object of the main thread waits for running links, at most
/// ten seconds, and refuses links from then on, also after pthread_exit in the main thread. If
/// another thread calls exit, a handler that is registered once nvJitLink is open does the same.
class process_end_guard {
 public:
  /// @throws unavailable_error the process is ending, or was forked during a link.
  process_end_guard();
  ~process_end_guard();
  process_end_guard(process_end_guard const&) = delete;
  process_end_guard& operator=(process_end_guard const&) = delete;

  /// Also notices a thread other than the main one that calls exit. Call it once nvJitLink is open.
  static void watch_exit();
};

}  // namespace fatlink::detail
