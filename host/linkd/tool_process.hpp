// SPDX-License-Identifier: Apache-2.0
// The process that opens the tool, confines itself, sends the hello, and serves requests.
#pragma once

#include <sys/types.h>

#include "guardian.hpp"
#include "link_helper/link_helper.hpp"

namespace fatlink {

/// Runs the tool process. `parent`: the process ID of the guardian. `limits_error`: the result of
/// limit_resources(). Returns the exit status: 0 the host closed the socket or was idle for too
/// long, 2 it sent an invalid request, 5 there is no tool or no sandbox, which a failure message
/// has told the host.
int run_tool_process(guardian& guard, pid_t parent, int limits_error,
                     detail::helper_settings const& settings);

}  // namespace fatlink
