// SPDX-License-Identifier: Apache-2.0
// What the link helper gives up, so that nvJitLink taken over by its input can do little.
#pragma once

namespace fatlink {

/// At most 8 GiB of address space, 64 descriptors, 16 MiB a file (what it captures), no core.
void limit_resources() noexcept;

/// From here on, opening or changing files, sockets, other programs and other processes fails
/// with EPERM, by seccomp. Descriptors already open, memory and threads stay. Where the kernel
/// has no seccomp, nothing changes.
void forbid_files_and_network() noexcept;

}  // namespace fatlink
