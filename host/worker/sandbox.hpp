// SPDX-License-Identifier: Apache-2.0
// What the processes of the link helper give up, so that an nvJitLink taken over by its input can
// do nothing to the host. Layers, each in force without the others:
//   seccomp             only the system calls of allowed_calls.hpp
//   landlock            no file system, no network, no signals (landlock.hpp)
//   capabilities        none
//   no-new-privileges   no program gives rights back
//   no-dump             no core file, and no other process of the user reads its memory
//   limits              limits.hpp
//   guardian            guardian.hpp
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace fatlink {

struct confinement {
  /// "NAME: on", "NAME: on: DETAIL" or "NAME: off: REASON", of each layer, in the order above.
  std::vector<std::string> layers;
  std::string seccomp_refusal;  ///< why seccomp is off; empty where it is on
};

/// Confines the linking process, whose nvJitLink is open.
confinement confine_linking_process();

/// Confines the guardian as far as the kernel lets it.
void confine_guardian(pid_t linking_process);

}  // namespace fatlink
