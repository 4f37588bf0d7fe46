// SPDX-License-Identifier: Apache-2.0
// Confines the processes of the link helper, so that an input that takes over nvJitLink cannot do
// anything to the host. Each layer works without the others:
//   seccomp             only the system calls of allowed_calls.hpp
//   landlock            no file system, no network, no signals (landlock.hpp)
//   capabilities        none
//   no-new-privileges   executing a program never adds rights
//   no-dump             no core file; other processes of the user cannot read its memory
//   limits              limits.hpp
//   guardian            guardian.hpp; confined by the same layers, reports those that are refused
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace fatlink {

struct confinement {
  /// "NAME: on", "NAME: on: DETAIL" or "NAME: off: REASON" for each layer, in the order above.
  std::vector<std::string> layers;
  std::string seccomp_refusal;  ///< why seccomp is off; empty if it is on
};

/// The errno with which the kernel refused each layer of the guardian; 0 if it is on.
struct guardian_errors {
  int seccomp = 0;
  int landlock = 0;
  int capabilities = 0;
  int privileges = 0;
  int dumps = 0;
  int limits = 0;
};

/// Confines the tool process, after nvJitLink was opened. `limits_error`: the result of
/// limit_resources(). `guardian`: the result of confine_guardian(); empty: unknown.
confinement confine_tool_process(int limits_error, std::optional<guardian_errors> const& guardian);

/// Confines the guardian as far as the kernel permits.
guardian_errors confine_guardian(pid_t tool_process);

}  // namespace fatlink
