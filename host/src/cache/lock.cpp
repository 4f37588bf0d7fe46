// SPDX-License-Identifier: Apache-2.0
#include "cache/lock.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <thread>

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

int set(int file, short type, long long byte)
{
  struct ::flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  return ::fcntl(file, F_OFD_SETLK, &range);
}

}  // namespace

lock::held_byte::~held_byte()
{
  (void)set(file_->get(), F_UNLCK, byte_);
}

std::optional<lock> lock::try_byte(folder const& in, long long byte)
{
  auto file = std::make_unique<detail::descriptor>(::openat(
      in.descriptor(), k_file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
  if (file->get() < 0) in.fail("opening", k_file);
  if (set(file->get(), F_WRLCK, byte) == 0)
    return lock(std::make_unique<held_byte>(std::move(file), byte));
  if (errno == EAGAIN || errno == EACCES || errno == EINTR) return std::nullopt;
  in.fail("locking", k_file);
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
