// SPDX-License-Identifier: Apache-2.0
// Landlock, Linux 5.13 and newer: this thread and the threads that it starts lose access to the
// file system and, depending on the kernel's ABI version, to TCP ports (4), ioctl on devices (5),
// and abstract Unix sockets and signals of other processes (6). Source: linux/landlock.h of
// Linux 6.12.
#pragma once

namespace fatlink {

enum class signal_scope { any_process, own_domain };

struct landlock_result {
  int abi = 0;    ///< the kernel's ABI version; 0 without Landlock
  int error = 0;  ///< errno if Landlock is not in force; otherwise 0
};

/// Denies everything that the kernel's Landlock can deny. Needs no_new_privs. `signals`: own_domain
/// also denies signals to other processes.
landlock_result deny_by_landlock(signal_scope signals);

}  // namespace fatlink
