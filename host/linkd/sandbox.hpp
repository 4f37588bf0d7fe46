// SPDX-License-Identifier: Apache-2.0
// Confines the processes of the link helper, so that an input that takes over nvJitLink cannot do
// anything to the host. Each layer works without the others:
//   seccomp             only the system calls of seccomp.hpp
//   landlock            no file system, no network, no signals
//   capabilities        none
//   no-new-privileges   executing a program never adds rights
//   no-dump             no core file; other processes of the user cannot read its memory
//   limits              of resources, hard and soft
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

/// Limits both processes to 8 GiB and `memory_mib` MiB of address space (not with sanitizers, which
/// map terabytes), 64 descriptors, 16 MiB in a file (printed output), no core file, one hour of
/// processor time (SIGXCPU). Returns 0, or the errno of the first limit that the kernel refuses.
int limit_resources(unsigned memory_mib) noexcept;

/// Limits the address space of this process to what it has now and `mib` MiB more (not with
/// sanitizers). Returns 0 or errno.
int limit_memory(unsigned mib) noexcept;

/// Whether this process has used half of its processor time. It then ends after its current link,
/// and the host starts a new helper.
[[nodiscard]] bool is_half_of_processor_time_used() noexcept;

}  // namespace fatlink
