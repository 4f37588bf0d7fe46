// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>

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

int limit_processes() noexcept
{
  return limit(RLIMIT_NPROC, 1024);
}

bool is_half_of_processor_time_used() noexcept
{
  timespec used{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec >= static_cast<time_t>(k_processor_seconds / 2);
}

}  // namespace fatlink
