// SPDX-License-Identifier: Apache-2.0
// What the processes of the link helper give up, so that an nvJitLink taken over by its input can
// do nothing to the host. Layers, each in force without the others:
//   seccomp             only the system calls of allowed_calls.hpp
//   landlock            no file system, no network, no signals (landlock.hpp)
//   capabilities        none
//   no-new-privileges   no program gives rights back
//   no-dump             no core file, and no other process of the user reads its memory
//   limits              limits.hpp
//   guardian            guardian.hpp; confined by the same layers, and reports those refused
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace fatlink {

struct confinement {
  /// "NAME: on", "NAME: on: DETAIL" or "NAME: off: REASON", of each layer, in the order above.
  std::vector<std::string> layers;
  std::string seccomp_refusal;  ///< why seccomp is off; empty where it is on
};

/// The errno with which the kernel refused each layer to the guardian; 0 where it is on.
struct guardian_errors {
  int seccomp = 0;
  int landlock = 0;
  int capabilities = 0;
  int privileges = 0;
  int dumps = 0;
  int limits = 0;
};

/// Confines the linking process, whose nvJitLink is open. `limits_error`: of limit_resources().
/// `guardian`: what confine_guardian() returned; empty where that is not known.
confinement confine_linking_process(int limits_error,
                                    std::optional<guardian_errors> const& guardian);

/// Confines the guardian as far as the kernel lets it.
guardian_errors confine_guardian(pid_t linking_process);

}  // namespace fatlink
