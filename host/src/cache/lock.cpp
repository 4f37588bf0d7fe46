// SPDX-License-Identifier: Apache-2.0
#include "cache/lock.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <thread>

#include "util/files/output_file.hpp"

namespace fatlink::cache {
namespace {

constexpr char const* k_lock_file = "lock";
constexpr long long k_ledger_offset = 1LL << 62;
constexpr std::size_t k_offset_digits = 15;  // keeps the entries' offsets below the ledger's

/// The offset of the entry `name`: the first 15 of its hexadecimal digits. Two entries that share
/// them only wait for each other.
long long offset_of(std::string const& name)
{
  long long offset = 0;
  auto const digits = std::min(name.size(), k_offset_digits);
  std::from_chars(name.data(), name.data() + digits, offset, 16);
  return offset;
}

struct ::flock range_of(short type, long long offset)
{
  struct ::flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = offset;
  range.l_len = 1;
  return range;
}

int set(int file, short type, long long offset)
{
  auto range = range_of(type, offset);
  return ::fcntl(file, F_OFD_SETLK, &range);
}

/// Whether another owner holds the lock. Keeps errno.
bool is_held(int file, long long offset)
{
  auto const code = errno;
  auto range = range_of(F_WRLCK, offset);
  auto const is_known = ::fcntl(file, F_OFD_GETLK, &range) == 0;
  errno = code;
  return is_known && range.l_type != F_UNLCK;
}

enum class attempt { locked, held_by_other, refused };

/// EAGAIN, EACCES and EINTR without another owner may mean that the lock was released meanwhile:
/// tries again for 13 ms, and then assumes that locks do not work in this folder.
attempt try_lock(int file, long long offset)
{
  constexpr auto k_longest_pause = std::chrono::microseconds(6400);
  for (auto pause = std::chrono::microseconds(50);; pause *= 2) {
    if (set(file, F_WRLCK, offset) == 0) return attempt::locked;
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) return attempt::refused;
    if (is_held(file, offset)) return attempt::held_by_other;
    if (pause > k_longest_pause) return attempt::refused;
    auto const code = errno;
    std::this_thread::sleep_for(pause);
    errno = code;
  }
}

/// Opens the lock file; replaces anything else in its place.
int open_lock(folder const& cache_folder)
{
  cache_folder.remove_obstacle(k_lock_file);
  return detail::avoid_standard_streams(
      ::openat(cache_folder.descriptor(), k_lock_file,
               O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
}

}  // namespace

lock::locked_byte::~locked_byte()
{
  (void)set(file_->get(), F_UNLCK, offset_);
}

std::optional<lock> lock::try_byte(folder const& cache_folder, long long offset)
{
  auto file = std::make_unique<detail::descriptor>(open_lock(cache_folder));
  if (file->get() < 0) cache_folder.fail("opening", k_lock_file);
  auto const result = try_lock(file->get(), offset);
  if (result == attempt::refused) cache_folder.fail("locking", k_lock_file);
  if (result == attempt::held_by_other) return std::nullopt;
  return lock(std::make_unique<locked_byte>(std::move(file), offset));
}

std::optional<lock> lock::try_entry(folder const& cache_folder, std::string const& name)
{
  return try_byte(cache_folder, offset_of(name));
}

std::optional<lock> lock::ledger(folder const& cache_folder, std::chrono::milliseconds wait_limit)
{
  auto const end = std::chrono::steady_clock::now() + wait_limit;
  for (auto pause = std::chrono::microseconds(50);;
       pause = std::min(2 * pause, std::chrono::microseconds(5000))) {
    if (auto result = try_byte(cache_folder, k_ledger_offset)) return result;
    if (std::chrono::steady_clock::now() >= end) return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace fatlink::cache
