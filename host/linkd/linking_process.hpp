// SPDX-License-Identifier: Apache-2.0
// The process that opens nvJitLink, confines itself, says hello to the host, and links.
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

/// Returns the exit status: 0 the host has left or sent nothing for the idle time, 2 it sent what
/// is no request, 5 no nvJitLink or no sandbox, as the host was told. `parent`: the process of
/// `guard`. `limits_error`: of limit_resources().
int run_linking_process(guardian& guard, pid_t parent, int limits_error,
                        linking_settings const& settings);

}  // namespace fatlink
