// SPDX-License-Identifier: Apache-2.0
#include "util/files/write_all.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace fatlink::detail {
namespace {

/// Whether a write that failed with errno is to be tried again.
bool can_retry(int file) noexcept
{
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd room{.fd = file, .events = POLLOUT, .revents = 0};
  return ::poll(&room, 1, -1) > 0 || errno == EINTR;
}

}  // namespace

bool write_all(int file, bytes_view bytes) noexcept
{
  while (!bytes.empty()) {
    auto const written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && can_retry(file)) continue;
    if (written == 0) errno = EIO;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

int avoid_standard_streams(int opened) noexcept
{
  if (opened < 0 || opened > STDERR_FILENO) return opened;
  auto const above = ::fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  auto const code = errno;
  ::close(opened);
  errno = code;
  return above;
}

}  // namespace fatlink::detail
