// SPDX-License-Identifier: Apache-2.0
// Linked into the binaries of the Python wheel only: functions of glibc that glibc 2.28 (Red Hat 8)
// does not have. The linker does not see those of newer versions (cmake/build/older_libraries.py),
// so that the binaries use these. Where the machine's glibc has a function that only a thread
// library or the kernel can provide in full, that function is called. Threads: safe.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

/// The machine's own function; null if its glibc is older.
template <typename Function>
Function function_of_library(char const* name)
{
  return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

/// Calls `visit` with each open descriptor from `first` on. Returns false if /proc is not mounted.
template <typename Visit>
bool visit_descriptors(int first, Visit const& visit)
{
  auto* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return false;
  while (auto const* const entry = ::readdir(folder)) {
    auto const descriptor = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
    if (descriptor >= first && entry->d_name[0] != '.' && descriptor != ::dirfd(folder))
      visit(descriptor);
  }
  ::closedir(folder);
  return true;
}

constexpr long k_second = 1'000'000'000;

/// The time on the clock of the machine at which `clock` shows `time`.
timespec to_real_time(clockid_t clock, timespec const& time)
{
  timespec now{};
  timespec real{};
  ::clock_gettime(clock, &now);
  ::clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += time.tv_sec - now.tv_sec;
  real.tv_nsec += time.tv_nsec - now.tv_nsec;
  if (real.tv_nsec < 0) real = {real.tv_sec - 1, real.tv_nsec + k_second};
  if (real.tv_nsec >= k_second) real = {real.tv_sec + 1, real.tv_nsec - k_second};
  return real;
}

}  // namespace

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): names of glibc.

/// 2.32; data that libstdc++ reads. Never true, so that it always counts with atomic operations.
extern char __libc_single_threaded;
char __libc_single_threaded = 0;

/// 2.36; libstdc++ calls it for std::random_device.
std::uint32_t arc4random() noexcept
{
  std::uint32_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits) std::abort();
  return bits;
}

/// 2.33, before which each program had them, and called __xstat and others. The helper has stat and
/// stat64 of its own (file_calls.cpp).
[[gnu::weak, gnu::visibility("default")]] int stat(char const* path, struct stat* status) noexcept
{
  return static_cast<int>(::syscall(SYS_newfstatat, AT_FDCWD, path, status, 0));
}

[[gnu::weak, gnu::visibility("default")]] int stat64(char const* path,
                                                     struct stat64* status) noexcept
{
  return static_cast<int>(::syscall(SYS_newfstatat, AT_FDCWD, path, status, 0));
}

int lstat(char const* path, struct stat* status) noexcept
{
  return static_cast<int>(::syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW));
}

int fstat(int descriptor, struct stat* status) noexcept
{
  return static_cast<int>(::syscall(SYS_fstat, descriptor, status));
}

int fstat64(int descriptor, struct stat64* status) noexcept
{
  return static_cast<int>(::syscall(SYS_fstat, descriptor, status));
}

int fstatat(int folder, char const* path, struct stat* status, int flags) noexcept
{
  return static_cast<int>(::syscall(SYS_newfstatat, folder, path, status, flags));
}

int fstatat64(int folder, char const* path, struct stat64* status, int flags) noexcept
{
  return static_cast<int>(::syscall(SYS_newfstatat, folder, path, status, flags));
}

/// 2.30.
pid_t gettid() noexcept
{
  return static_cast<pid_t>(::syscall(SYS_gettid));
}

/// 2.32.
char const* sigabbrev_np(int signal) noexcept
{
  static constexpr std::array<char const*, 32> k_names{
      nullptr, "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
      "SEGV",  "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
      "TTOU",  "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "POLL", "PWR",  "SYS"};
  auto const index = static_cast<std::size_t>(signal);
  return index < k_names.size() ? k_names[index] : nullptr;
}

/// 2.30. Without it, a change of the machine's time changes the time that is waited; the wait then
/// may end early, without ETIMEDOUT.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           timespec const* time)
{
  static auto const wait =
      function_of_library<decltype(&pthread_cond_clockwait)>("pthread_cond_clockwait");
  if (wait != nullptr) return wait(condition, mutex, clock, time);
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return EINVAL;
  auto const real = clock == CLOCK_REALTIME ? *time : to_real_time(clock, *time);
  auto const status = ::pthread_cond_timedwait(condition, mutex, &real);
  timespec now{};
  ::clock_gettime(clock, &now);
  auto const is_early =
      now.tv_sec < time->tv_sec || (now.tv_sec == time->tv_sec && now.tv_nsec < time->tv_nsec);
  return status == ETIMEDOUT && is_early ? 0 : status;
}

/// 2.34; the kernel's close_range is of Linux 5.9.
void closefrom(int first) noexcept
{
  auto const from = first < 0 ? 0 : first;
#if defined(SYS_close_range)
  if (::syscall(SYS_close_range, from, ~0U, 0) == 0) return;
#endif
  if (visit_descriptors(from, [](int descriptor) { ::close(descriptor); })) return;
  for (auto i = from, end = ::getdtablesize(); i < end; ++i) ::close(i);
}

/// 2.34. Without it, descriptors that are opened later are not closed; the helper closes them.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions,
                                             int first) noexcept
{
  static auto const add = function_of_library<decltype(&posix_spawn_file_actions_addclosefrom_np)>(
      "posix_spawn_file_actions_addclosefrom_np");
  if (add != nullptr) return add(actions, first);
  if (first < 0) return EBADF;
  int error = 0;
  visit_descriptors(first, [&](int descriptor) {
    auto const code = ::posix_spawn_file_actions_addclose(actions, descriptor);
    if (code != 0) error = code;
  });
  return error;
}

// NOLINTEND(bugprone-reserved-identifier)
}
