// SPDX-License-Identifier: Apache-2.0
// The system calls that the two processes of the link helper need after their start, and the
// seccomp filters that allow nothing else. Measured with nvJitLink 13.0, 13.2 and 13.5: links in
// both modes, with and without -split-compile, failing links, and fatlink's tests. nvJitLink
// started no threads; they are allowed for versions that do. Builds with sanitizers allow three
// more calls, which the sanitizers need.
//
// A call that no rule allows fails with EPERM. A call of another architecture (int 0x80) or with an
// x32 number ends the process with SIGSYS. The rules are tried in order. The kernel compiles the
// filter, and caches which calls it allows regardless of their arguments.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace fatlink {

/// Is true if the bits of `mask` in argument `index` of the call equal those of `value`.
struct argument_test {
  unsigned index = 0;
  std::uint64_t mask = ~std::uint64_t{0};
  std::uint64_t value = 0;
};

/// A test of an argument that the kernel reads as a 32-bit number.
argument_test is_equal(unsigned index, std::uint32_t value);

/// Applies to a call if all tests are true.
struct call_rule {
  long number = 0;
  std::vector<argument_test> tests = {};
  int error = 0;  ///< 0: the call is allowed; otherwise it fails with this errno
};

/// The filter for `rules`.
std::vector<sock_filter> seccomp_program(std::vector<call_rule> const& rules);

/// Installs the filter for all threads of this process, permanently. Needs no_new_privs.
/// Returns 0, or the errno with which the kernel refuses.
int install_seccomp_filter(std::vector<sock_filter> program);

/// For the calling process, once nvJitLink is open: memory that is not executable, threads, its own
/// signals, clocks, and its open descriptors. nvJitLink also searches for libcuda.so.1, and works
/// without it.
std::vector<call_rule> calls_of_tool_process();

/// For the guardian of `tool_process`: waiting, ending that process, and reporting how it ended.
std::vector<call_rule> calls_of_guardian(pid_t tool_process);

}  // namespace fatlink
