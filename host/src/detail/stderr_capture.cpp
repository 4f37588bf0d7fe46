// SPDX-License-Identifier: Apache-2.0
#include "detail/stderr_capture.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "fatlink/error.hpp"

namespace fatlink::detail {
namespace {

std::mutex& turns()
{
  static std::mutex one;
  return one;
}

[[noreturn]] void fail()
{
  auto const reason = std::generic_category().message(errno);
  throw unavailable_error(
      stage::linker,
      {.message =
           "standard error cannot be captured, and nvJitLink reports errors there: " + reason,
       .input = {},
       .code = {},
       .log = {},
       .hint = "close some files, or raise the limit (ulimit -n)"});
}

}  // namespace

stderr_capture::stderr_capture() : turn_(turns())
{
  std::fflush(stderr);
  file_ = ::memfd_create("fatlink-stderr", MFD_CLOEXEC);
  if (file_ < 0) fail();
  // A process started without standard error has none to restore.
  saved_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if ((saved_ < 0 && errno != EBADF) || ::dup2(file_, STDERR_FILENO) < 0) {
    restore();
    fail();
  }
}

stderr_capture::~stderr_capture()
{
  restore();
}

void stderr_capture::restore() noexcept
{
  if (file_ < 0) return;
  auto const code = errno;
  std::fflush(stderr);
  if (saved_ >= 0)
    ::dup2(saved_, STDERR_FILENO);
  else
    ::close(STDERR_FILENO);
  ::close(saved_);
  ::close(file_);
  saved_ = file_ = -1;
  errno = code;
}

std::string stderr_capture::finish()
{
  std::fflush(stderr);
  std::string text;
  char block[4096];
  for (off_t at = 0;;) {
    auto const got = ::pread(file_, block, sizeof block, at);
    if (got <= 0) break;
    text.append(block, static_cast<std::size_t>(got));
    at += got;
  }
  restore();
  return text;
}

}  // namespace fatlink::detail
