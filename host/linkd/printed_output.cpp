// SPDX-License-Identifier: Apache-2.0
#include "printed_output.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "fatlink/error.hpp"

namespace fatlink {
namespace {

[[noreturn]] void fail()
{
  auto const reason = std::generic_category().message(errno);
  throw unavailable_error(
      stage::linker,
      {.message =
           "standard error cannot be captured, and nvJitLink reports errors there: " + reason,
       .code = error_code::helper_unavailable,
       .hint = "use a kernel with memfd_create, and see what refuses it (a container's profile)"});
}

}  // namespace

void collect_printed_output()
{
  auto const file = ::memfd_create("fatlink-printed", MFD_CLOEXEC);
  if (file < 0) fail();
  if (::fcntl(file, F_SETFL, O_APPEND) != 0 || ::dup2(file, STDOUT_FILENO) < 0 ||
      ::dup2(file, STDERR_FILENO) < 0)
    fail();
  ::close(file);
}

std::string take_printed_output()
{
  std::fflush(stdout);
  std::fflush(stderr);
  std::string text;
  std::array<char, 4096> block{};
  for (;;) {
    auto const count =
        ::pread(STDERR_FILENO, block.data(), block.size(), static_cast<off_t>(text.size()));
    if (count <= 0) break;
    text.append(block.data(), static_cast<std::size_t>(count));
  }
  if (!text.empty() && ::ftruncate(STDERR_FILENO, 0) != 0) ::_exit(2);  // else it comes twice
  return text;
}

}  // namespace fatlink
