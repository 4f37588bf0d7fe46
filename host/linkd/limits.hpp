// SPDX-License-Identifier: Apache-2.0
// Resource limits of the link helper, hard and soft.
#pragma once

namespace fatlink {

/// Limits both processes to 8 GiB and `memory_mib` MiB of address space (not with sanitizers, which
/// map terabytes), 64 descriptors, 16 MiB in a file (printed output), no core file, one hour of
/// processor time (SIGXCPU). Returns 0, or the errno of the first limit that the kernel refuses.
int limit_resources(unsigned memory_mib) noexcept;

/// Limits the address space of this process to what it has now and `mib` MiB more (not with
/// sanitizers). Returns 0 or errno.
int limit_memory(unsigned mib) noexcept;

/// Limits the user to 1024 processes, including threads. Called after the guardian has started the
/// tool process. The kernel does not apply it to root. Returns 0 or errno.
int limit_processes() noexcept;

/// Whether this process has used half of its processor time. It then ends after its current link,
/// and the host starts a new helper.
[[nodiscard]] bool is_half_of_processor_time_used() noexcept;

}  // namespace fatlink
