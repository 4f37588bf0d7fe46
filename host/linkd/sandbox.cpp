// SPDX-License-Identifier: Apache-2.0
#include "sandbox.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <system_error>

#include "seccomp.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

// Sanitizers reserve more address space than any limit leaves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool k_is_sanitized = true;
#else
constexpr bool k_is_sanitized = false;
#endif

constexpr rlim_t k_processor_seconds = 3600;
constexpr rlim_t k_grace_seconds = 5;  // between SIGXCPU, which names the reason, and SIGKILL

/// Returns 0 or errno.
int limit(__rlimit_resource resource, rlim_t soft, rlim_t hard) noexcept
{
  rlimit current{};
  if (::getrlimit(resource, &current) != 0) return errno;
  rlimit const lowered{.rlim_cur = std::min(current.rlim_max, soft),
                       .rlim_max = std::min(current.rlim_max, hard)};
  return ::setrlimit(resource, &lowered) == 0 ? 0 : errno;
}

int limit(__rlimit_resource resource, rlim_t value) noexcept
{
  return limit(resource, value, value);
}

int limit_address_space(unsigned mib) noexcept
{
  if (k_is_sanitized) return 0;
  return limit(RLIMIT_AS, (rlim_t{8} << 30) + (rlim_t{mib} << 20));
}

/// Bytes of address space that this process has; 0: unknown.
std::uint64_t address_space() noexcept
{
  unsigned long long pages = 0;
  auto* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
  std::fclose(file);
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Limits the user to 1024 processes, including threads. Called after the guardian has started the
/// tool process. The kernel does not apply it to root. Returns 0 or errno.
int limit_processes() noexcept
{
  return limit(RLIMIT_NPROC, 1024);
}

}  // namespace

int limit_resources(unsigned memory_mib) noexcept
{
  auto const errors = {
      limit_address_space(memory_mib), limit(RLIMIT_NOFILE, 64),
      limit(RLIMIT_FSIZE, rlim_t{16} << 20), limit(RLIMIT_CORE, 0),
      limit(RLIMIT_CPU, k_processor_seconds, k_processor_seconds + k_grace_seconds)};
  auto const* const error_position = std::find_if(errors.begin(), errors.end(), std::identity());
  return error_position == errors.end() ? 0 : *error_position;
}

int limit_memory(unsigned mib) noexcept
{
  if (k_is_sanitized) return 0;
  return limit(RLIMIT_AS, address_space() + (rlim_t{mib} << 20));
}

bool is_half_of_processor_time_used() noexcept
{
  timespec used{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec >= static_cast<time_t>(k_processor_seconds / 2);
}

namespace {

constexpr unsigned long k_capabilities = 64;  // more than any kernel has

void empty_bounding_set()
{
  for (unsigned long capability = 0; capability < k_capabilities; ++capability)
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return;
}

/// Drops all capabilities of this thread: bounding set, ambient, inheritable, permitted and
/// effective. Without CAP_SETPCAP the bounding set stays, which grants nothing under no_new_privs.
/// Returns 0, or the errno with which the kernel refuses.
int drop_capabilities()
{
  empty_bounding_set();
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct const none[_LINUX_CAPABILITY_U32S_3]{};
  return ::syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

// Landlock, Linux 5.13 and newer: this thread and the threads that it starts lose access to the
// file system and, depending on the kernel's ABI version, to TCP ports (4), ioctl on devices (5),
// and abstract Unix sockets and signals of other processes (6). Source: linux/landlock.h of
// Linux 6.12.

enum class signal_scope { any_process, own_domain };

struct landlock_result {
  int abi = 0;    ///< the kernel's ABI version; 0 without Landlock
  int error = 0;  ///< errno if Landlock is not in force; otherwise 0
};

constexpr long k_create_ruleset = 444;  // SYS_landlock_*; older C libraries have no names for them
constexpr long k_restrict_self = 446;
constexpr unsigned k_version = 1;  // LANDLOCK_CREATE_RULESET_VERSION

/// struct landlock_ruleset_attr: what the ruleset denies where no rule of it allows.
struct ruleset {
  std::uint64_t files = 0;
  std::uint64_t ports = 0;   // since ABI 4
  std::uint64_t scopes = 0;  // since ABI 6
};

constexpr std::uint64_t bits(unsigned count)
{
  return (std::uint64_t{1} << count) - 1;
}

/// All rights that `abi` knows.
ruleset all_rights(int abi, signal_scope signals)
{
  ruleset rights{.files = bits(13)};      // execute … make symbolic links
  if (abi >= 2) rights.files = bits(14);  // refer
  if (abi >= 3) rights.files = bits(15);  // truncate
  if (abi >= 5) rights.files = bits(16);  // ioctl of devices
  if (abi >= 4) rights.ports = bits(2);   // bind, connect
  if (abi >= 6) rights.scopes = signals == signal_scope::own_domain ? bits(2) : bits(1);
  return rights;
}

std::size_t size_of_ruleset(int abi)
{
  if (abi < 4) return offsetof(ruleset, ports);
  return abi < 6 ? offsetof(ruleset, scopes) : sizeof(ruleset);
}

/// Denies everything that the kernel's Landlock can deny. Needs no_new_privs. `signals`: own_domain
/// also denies signals to other processes.
landlock_result deny_by_landlock(signal_scope signals)
{
  auto const abi = static_cast<int>(::syscall(k_create_ruleset, nullptr, 0, k_version));
  if (abi <= 0) return {.abi = 0, .error = errno};
  auto const rights = all_rights(abi, signals);
  auto const descriptor =
      static_cast<int>(::syscall(k_create_ruleset, &rights, size_of_ruleset(abi), 0));
  if (descriptor < 0) return {.abi = abi, .error = errno};
  auto const error = ::syscall(k_restrict_self, descriptor, 0) == 0 ? 0 : errno;
  ::close(descriptor);
  return {.abi = abi, .error = error};
}

std::string reason_of(int error)
{
  return std::generic_category().message(error);
}

std::string state_of(char const* name, int error)
{
  return error == 0 ? detail::format("{}: on", name)
                    : detail::format("{}: off: {}", name, reason_of(error));
}

std::string state_of(landlock_result const& result)
{
  if (result.error == 0) return detail::format("landlock: on: ABI {}", result.abi);
  return state_of("landlock", result.error);
}

int forbid_new_privileges()
{
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

int forbid_dumps()
{
  return ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : errno;
}

/// Appends "without NAME: REASON" for a layer that the guardian lacks.
void append_missing(std::string& missing, char const* name, int error)
{
  if (error == 0) return;
  missing +=
      detail::format("{}without {}: {}", missing.empty() ? ": " : "; ", name, reason_of(error));
}

/// An unconfined guardian still counts as on: it reads nothing that an input can influence.
std::string state_of(std::optional<guardian_errors> const& guardian)
{
  if (!guardian) return "guardian: off: it did not report its confinement";
  std::string missing;
  append_missing(missing, "seccomp", guardian->seccomp);
  append_missing(missing, "landlock", guardian->landlock);
  append_missing(missing, "capabilities", guardian->capabilities);
  append_missing(missing, "no-new-privileges", guardian->privileges);
  append_missing(missing, "no-dump", guardian->dumps);
  append_missing(missing, "limits", guardian->limits);
  return "guardian: on" + missing;
}

}  // namespace

confinement confine_tool_process(int limits_error, std::optional<guardian_errors> const& guardian)
{
  auto const processes_error = limit_processes();
  auto const capabilities = drop_capabilities();
  auto const privileges = forbid_new_privileges();
  auto const dumps = forbid_dumps();
  auto const landlock = deny_by_landlock(signal_scope::own_domain);
  auto const seccomp = install_seccomp_filter(seccomp_program(calls_of_tool_process()));
  return {.layers = {state_of("seccomp", seccomp), state_of(landlock),
                     state_of("capabilities", capabilities),
                     state_of("no-new-privileges", privileges), state_of("no-dump", dumps),
                     state_of("limits", limits_error != 0 ? limits_error : processes_error),
                     state_of(guardian)},
          .seccomp_refusal = seccomp == 0 ? "" : reason_of(seccomp)};
}

guardian_errors confine_guardian(pid_t tool_process)
{
  guardian_errors errors;
  errors.limits = limit_processes();
  errors.capabilities = drop_capabilities();
  errors.privileges = forbid_new_privileges();
  errors.dumps = forbid_dumps();
  // The tool process started before, so it is outside of the guardian's Landlock domain.
  errors.landlock = deny_by_landlock(signal_scope::any_process).error;
  errors.seccomp = install_seccomp_filter(seccomp_program(calls_of_guardian(tool_process)));
  return errors;
}

}  // namespace fatlink
