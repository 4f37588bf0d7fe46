// SPDX-License-Identifier: Apache-2.0
// The error family. Everything fatlink throws derives from `fatlink::error` and says
// which stage failed, on which file or value, why, and what to do about it.
// Threads: values; copy and read freely.
#pragma once

#include <stdexcept>
#include <string>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// Where in the pipeline an error arose.
enum class stage { input, fatbin, preflight, linker, image, device, verify, report };

/// "input", "fatbin", … as printed by `--json`.
char const* to_string(stage where) noexcept;

/// What an error knows. Only `message` is always set.
struct error_details {
  std::string message = {};  ///< one line: the file or value, then the cause
  std::string input = {};    ///< the file (or value) at fault
  std::string code = {};     ///< the vendor's spelling: "NVJITLINK_ERROR_PTX_COMPILE"
  std::string log = {};      ///< the vendor's complete log, unshortened
  std::string hint = {};     ///< the remedy, one line
};

/// The base. `what()` is `message` alone.
class error : public std::runtime_error {
 public:
  error(stage where, error_details details);

  [[nodiscard]] stage where() const noexcept { return where_; }
  [[nodiscard]] error_details const& details() const noexcept { return details_; }

 private:
  stage where_;
  error_details details_;
};

/// A value the caller passed is malformed: a target, a device name, an option.
class usage_error : public error {
  using error::error;
};

/// A file cannot be read, is not what it should be, or cannot be written.
class file_error : public error {
  using error::error;
};

/// nvJitLink refused or failed a link; `code` is its nvJitLinkResult.
class link_error : public error {
  using error::error;
};

/// The driver failed a call; `code` is its CUresult.
class device_error : public error {
  using error::error;
};

/// A device, the driver or nvJitLink is not on this machine.
class unavailable_error : public error {
  using error::error;
};

}  // namespace fatlink
