// SPDX-License-Identifier: Apache-2.0
// The process that opens nvJitLink, confines itself, sends the hello, and links.
#pragma once

#include <sys/types.h>

#include <string>

#include "guardian.hpp"

namespace fatlink {

struct linking_settings {
  std::string nvjitlink = {};     ///< the file to open; empty: searches for one
  bool may_search = true;         ///< searches for another one where `nvjitlink` cannot be opened
  bool allow_unconfined = false;  ///< links without seccomp where the kernel refuses it
};

/// Runs the linking process. `parent`: the process ID of the guardian. `limits_error`: the result
/// of limit_resources(). Returns the exit status: 0 the host closed the socket or was idle for too
/// long, 2 it sent an invalid request, 5 there is no nvJitLink or no sandbox, which a failure
/// message has told the host.
int run_linking_process(guardian& guard, pid_t parent, int limits_error,
                        linking_settings const& settings);

}  // namespace fatlink
