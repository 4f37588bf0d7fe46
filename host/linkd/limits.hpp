// SPDX-License-Identifier: Apache-2.0
// Resource limits of the link helper, hard and soft.
#pragma once

namespace fatlink {

/// For both processes: 8 GiB of address space (not with sanitizers, which map terabytes), 64
/// descriptors, 16 MiB a file (what is printed), no core file, an hour of processor time (SIGXCPU).
/// Returns 0, or the errno of the first limit that the kernel refuses.
int limit_resources() noexcept;

/// Once the guardian has started the linking process: no more processes than the user's 1024,
/// threads included. The kernel does not apply it to root. Returns 0 or errno.
int limit_processes() noexcept;

/// Whether this process has used half of its processor time: then it ends after its link, and
/// another begins with a time of its own.
[[nodiscard]] bool is_half_of_processor_time_used() noexcept;

}  // namespace fatlink
