// SPDX-License-Identifier: Apache-2.0
// The files of a compile in a process that may open none: this program defines the functions of the
// C library by which NVRTC looks files up and reads them, and the loader binds NVRTC to these
// (exports.list). While a compile runs they ask the host, which opens the file or says that there
// is none (compiler/header_files.hpp); otherwise they do as the C library does. NVRTC 13.0
// to 13.5 uses __xstat and fopen only (observed); a newer one that opens files otherwise is refused
// by the sandbox and finds no header, which `fatlink doctor` reports. Threads: safe.
#pragma once

#include "link_helper/protocol.hpp"

namespace fatlink {

/// As long as it lives, the host answers the calls. There is one at a time.
class file_calls {
 public:
  /// `request`: the compile.
  explicit file_calls(detail::request_identity const& request);
  ~file_calls();
  file_calls(file_calls const&) = delete;
  file_calls& operator=(file_calls const&) = delete;
};

}  // namespace fatlink
