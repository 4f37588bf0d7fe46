// SPDX-License-Identifier: Apache-2.0
#include "detail/unnamed_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "detail/environment.hpp"
#include "detail/temporary_name.hpp"

namespace fatlink::detail {
namespace {

/// Some kernels ignore the umask for unnamed files.
void apply_umask(int file)
{
  auto const mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file, 0666 & ~mask);
}

}  // namespace

int open_unnamed(std::filesystem::path const& folder)
{
  auto const file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (file < 0) return -1;
  if (::access("/proc/self/fd", X_OK) != 0) {  // nothing could give it a name
    ::close(file);
    errno = EOPNOTSUPP;
    return -1;
  }
  apply_umask(file);
  return file;
}

std::filesystem::path scratch_folder()
{
  auto folder = environment("TMPDIR");
  return folder.empty() ? "/tmp" : folder;
}

int open_scratch(std::filesystem::path const& folder)
{
  if (auto const file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); file >= 0)
    return file;
  temporary_name const name(AT_FDCWD, add_random((folder / "fatlink").string()));
  auto const file = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) name.remove();
  return file;
}

}  // namespace fatlink::detail
