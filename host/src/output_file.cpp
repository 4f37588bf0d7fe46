// SPDX-License-Identifier: Apache-2.0
#include "fatlink/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "detail/format.hpp"

namespace fatlink {
namespace {

mode_t creation_mode()
{
  auto const mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

/// A device or FIFO is written as it is: there is nothing to rename over.
bool is_special(std::filesystem::path const& path)
{
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

output_file::output_file(std::filesystem::path path) : path_(std::move(path))
{
  if (std::filesystem::is_directory(path_)) {
    errno = EISDIR;
    fail("cannot be written");
  }
  if (is_special(path_)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    temporary_ = path_.string() + ".XXXXXX";
    descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
    if (descriptor_ < 0) temporary_.clear();
  }
  if (descriptor_ < 0) fail("cannot be written");
  if (!temporary_.empty()) ::fchmod(descriptor_, creation_mode());
}

output_file::~output_file()
{
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void output_file::write(bytes_view bytes)
{
  while (!bytes.empty()) {
    auto const written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void output_file::commit()
{
  auto const closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("cannot be written");
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be put in place");
  temporary_.clear();
}

void output_file::fail(char const* doing) const
{
  auto const reason = std::generic_category().message(errno);
  throw file_error(stage::report,
                   {.message = detail::format("{}: {}: {}", path_.string(), doing, reason),
                    .input = path_.string(),
                    .code = {},
                    .log = {},
                    .hint = "name a file in a folder that is there and that you may write to"});
}

}  // namespace fatlink
