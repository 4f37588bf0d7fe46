// SPDX-License-Identifier: Apache-2.0
// The system calls that the two processes of the link helper need after their start. Measured with
// nvJitLink 13.0, 13.2 and 13.5: links in both modes, with and without -split-compile, failing
// links, and fatlink's tests. nvJitLink started no threads; they are allowed for versions that do.
// Builds with sanitizers allow three more calls, which the sanitizers need.
#pragma once

#include <sys/types.h>

#include <vector>

#include "seccomp_filter.hpp"

namespace fatlink {

/// For the calling process, once nvJitLink is open: memory that is not executable, threads, its own
/// signals, clocks, and its open descriptors. nvJitLink also searches for libcuda.so.1, and works
/// without it.
std::vector<call_rule> calls_of_tool_process();

/// For the guardian of `tool_process`: waiting, ending that process, and reporting how it ended.
std::vector<call_rule> calls_of_guardian(pid_t tool_process);

}  // namespace fatlink
