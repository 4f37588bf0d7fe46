// SPDX-License-Identifier: Apache-2.0
// One input of a link as nvJitLink receives it: a fatbin with exactly one entry,
// written by write_fatbin(). nvJitLink receives nothing else, so it cannot choose an entry that
// preflight did not check. Threads: immutable.
#pragma once

#include <string>
#include <string_view>

#include "fatlink/bytes.hpp"
#include "fatlink/fatbin.hpp"

namespace fatlink::detail {

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

}  // namespace fatlink::detail
