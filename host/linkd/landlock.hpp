// SPDX-License-Identifier: Apache-2.0
// Landlock, Linux 5.13 and newer: this thread and those that it starts lose access to the file
// system, and as far as the kernel's ABI goes to TCP ports (4), devices' ioctl (5), abstract unix
// sockets and the signals of other processes (6). Source: linux/landlock.h of Linux 6.12.
#pragma once

namespace fatlink {

enum class signal_scope { any_process, own_domain };

struct landlock_result {
  int abi = 0;    ///< of the kernel; 0 where it has no Landlock
  int error = 0;  ///< errno, where it is not in force
};

/// Denies all that the kernel's Landlock can deny. Needs no_new_privs. `signals`: whether signals
/// to processes outside are denied, too.
landlock_result deny_by_landlock(signal_scope signals);

}  // namespace fatlink
