// SPDX-License-Identifier: Apache-2.0
#include "confinement_pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <type_traits>

namespace fatlink {

static_assert(std::is_trivially_copyable_v<guardian_errors>);

confinement_pipe::confinement_pipe() noexcept
{
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  reader_ = ends[0];
  writer_ = ends[1];
}

void confinement_pipe::send(guardian_errors const& errors) const noexcept
{
  if (::write(writer_, &errors, sizeof(errors)) < 0) return;  // the tool process has ended
}

std::optional<guardian_errors> confinement_pipe::receive() noexcept
{
  ::close(writer_);
  guardian_errors errors;
  ssize_t size = 0;
  do size = ::read(reader_, &errors, sizeof(errors));
  while (size < 0 && errno == EINTR);
  ::close(reader_);
  if (size != static_cast<ssize_t>(sizeof(errors))) return {};
  return errors;
}

}  // namespace fatlink
