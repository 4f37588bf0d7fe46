// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>

namespace fatlink {
namespace {

constexpr rlim_t k_processor_seconds = 3600;
constexpr rlim_t k_grace_seconds = 5;  // between SIGXCPU, which names the reason, and SIGKILL

void limit(__rlimit_resource resource, rlim_t soft, rlim_t hard) noexcept
{
  rlimit present{};
  if (::getrlimit(resource, &present) != 0) return;
  rlimit const wanted{.rlim_cur = std::min(present.rlim_max, soft),
                      .rlim_max = std::min(present.rlim_max, hard)};
  (void)::setrlimit(resource, &wanted);
}

void limit(__rlimit_resource resource, rlim_t value) noexcept
{
  limit(resource, value, value);
}

}  // namespace

void limit_resources() noexcept
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  limit(RLIMIT_AS, rlim_t{8} << 30);
#endif
  limit(RLIMIT_NOFILE, 64);
  limit(RLIMIT_FSIZE, rlim_t{16} << 20);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, k_processor_seconds, k_processor_seconds + k_grace_seconds);
}

void limit_processes() noexcept
{
  limit(RLIMIT_NPROC, 1024);
}

bool is_half_of_processor_time_used() noexcept
{
  timespec used{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec >= static_cast<time_t>(k_processor_seconds / 2);
}

}  // namespace fatlink
