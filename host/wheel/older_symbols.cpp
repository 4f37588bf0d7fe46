// SPDX-License-Identifier: Apache-2.0
// Linked into the binaries of the Python wheel only, with --wrap: replaces functions whose symbols
// newer C and C++ libraries export in a newer version only, so that the wheel runs with glibc 2.34
// and the libstdc++ of GCC 11 (manylinux_2_34: Red Hat 9, Ubuntu 22.04). cmake/build/install.cmake
// lists the functions. Threads: safe.
#include <pthread.h>
#include <sys/random.h>

#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the names that --wrap prescribes.

/// hypot: glibc 2.35 has a version that does not set errno. Both round alike. The older version is
/// that of the first glibc for the architecture.
#if defined(__x86_64__)
__asm__(".symver older_hypot, hypot@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver older_hypot, hypot@GLIBC_2.17");
#endif
double older_hypot(double x, double y);
double __wrap_hypot(double x, double y);
double __wrap_hypot(double x, double y)
{
  return older_hypot(x, y);
}

/// arc4random: since glibc 2.36; the static libstdc++ calls it for std::random_device.
std::uint32_t __wrap_arc4random();
std::uint32_t __wrap_arc4random()
{
  std::uint32_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits) std::abort();
  return bits;
}

/// std::condition_variable::wait(std::unique_lock<std::mutex>&): GCC 12 made it noexcept, as
/// GLIBCXX_3.4.30.
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
    std::condition_variable* condition, std::unique_lock<std::mutex>& lock);
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
    std::condition_variable* condition, std::unique_lock<std::mutex>& lock)
{
  if (::pthread_cond_wait(condition->native_handle(), lock.mutex()->native_handle()) != 0)
    std::abort();
}

// NOLINTEND(bugprone-reserved-identifier)
}
