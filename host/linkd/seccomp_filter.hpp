// SPDX-License-Identifier: Apache-2.0
// Allow lists of system calls as seccomp filters. What no rule allows fails with EPERM and changes
// nothing. A call of another architecture (int 0x80) or with an x32 number ends the process with
// SIGSYS. The rules are tried in order; the kernel compiles the filter, and remembers calls that it
// allows whatever their arguments.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

namespace fatlink {

/// Holds where the bits of `mask` in argument `index` of the call are those of `value`.
struct argument_test {
  unsigned index = 0;
  std::uint64_t mask = ~std::uint64_t{0};
  std::uint64_t value = 0;
};

/// A test of an argument that the kernel reads as a 32-bit number.
argument_test is_equal(unsigned index, std::uint32_t value);

/// Applies to a call where all tests hold.
struct call_rule {
  long number = 0;
  std::vector<argument_test> tests = {};
  int error = 0;  ///< 0: the call is allowed; else the errno that it fails with
};

/// The filter that allows what `rules` allow.
std::vector<sock_filter> seccomp_program(std::vector<call_rule> const& rules);

/// Confines all threads of this process for the rest of its life. Needs no_new_privs.
/// Returns 0, or the errno with which the kernel refuses.
int install_seccomp_filter(std::vector<sock_filter> program);

}  // namespace fatlink
