// SPDX-License-Identifier: Apache-2.0
#include "cache/lock.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <thread>

#include "util/files/write_all.hpp"

namespace fatlink::cache {
namespace {

constexpr char const* k_file = "lock";
constexpr long long k_ledger_byte = 1LL << 62;
constexpr std::size_t k_digits = 15;  // of an entry's name: below the ledger's byte

long long byte_of(std::string const& name)
{
  long long byte = 0;
  auto const digits = std::min(name.size(), k_digits);
  std::from_chars(name.data(), name.data() + digits, byte, 16);
  return byte;
}

struct ::flock range_of(short type, long long byte)
{
  struct ::flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  return range;
}

int set(int file, short type, long long byte)
{
  auto range = range_of(type, byte);
  return ::fcntl(file, F_OFD_SETLK, &range);
}

/// Whether another owner holds the lock of `byte`; errno stays.
bool is_held(int file, long long byte)
{
  auto const code = errno;
  auto range = range_of(F_WRLCK, byte);
  auto const is_known = ::fcntl(file, F_OFD_GETLK, &range) == 0;
  errno = code;
  return is_known && range.l_type != F_UNLCK;
}

enum class attempt { taken, held, refused };

/// EAGAIN, EACCES and EINTR without another owner may be a lock that was let go of meanwhile: it is
/// tried again for 13 ms. After that, locks do not work there.
attempt take(int file, long long byte)
{
  constexpr auto k_longest_pause = std::chrono::microseconds(6400);
  for (auto pause = std::chrono::microseconds(50);; pause *= 2) {
    if (set(file, F_WRLCK, byte) == 0) return attempt::taken;
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) return attempt::refused;
    if (is_held(file, byte)) return attempt::held;
    if (pause > k_longest_pause) return attempt::refused;
    auto const code = errno;
    std::this_thread::sleep_for(pause);
    errno = code;
  }
}

/// What else is in the lock's place is replaced.
int open_lock(folder const& in)
{
  in.remove_obstacle(k_file);
  return detail::avoid_standard_streams(::openat(
      in.descriptor(), k_file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
}

}  // namespace

lock::held_byte::~held_byte()
{
  (void)set(file_->get(), F_UNLCK, byte_);
}

std::optional<lock> lock::try_byte(folder const& in, long long byte)
{
  auto file = std::make_unique<detail::descriptor>(open_lock(in));
  if (file->get() < 0) in.fail("opening", k_file);
  auto const result = take(file->get(), byte);
  if (result == attempt::refused) in.fail("locking", k_file);
  if (result == attempt::held) return std::nullopt;
  return lock(std::make_unique<held_byte>(std::move(file), byte));
}

std::optional<lock> lock::try_entry(folder const& in, std::string const& name)
{
  return try_byte(in, byte_of(name));
}

std::optional<lock> lock::ledger(folder const& in, std::chrono::milliseconds patience)
{
  auto const until = std::chrono::steady_clock::now() + patience;
  for (auto pause = std::chrono::microseconds(50);;
       pause = std::min(2 * pause, std::chrono::microseconds(5000))) {
    if (auto held = try_byte(in, k_ledger_byte)) return held;
    if (std::chrono::steady_clock::now() >= until) return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace fatlink::cache
