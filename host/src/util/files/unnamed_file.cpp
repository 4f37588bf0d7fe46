// SPDX-License-Identifier: Apache-2.0
#include "util/files/unnamed_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>

#include "util/files/temporary_name.hpp"
#include "util/files/write_all.hpp"
#include "util/process/environment.hpp"

namespace fatlink::detail {
namespace {

/// The process's umask; -1: unknown. umask(2) is not used: it can only query by changing the mask
/// of all threads.
int read_umask()
{
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    unsigned mask = 0;
    if (std::sscanf(line.c_str(), "Umask: %o", &mask) == 1) return static_cast<int>(mask);
  }
  return -1;
}

/// Some kernels ignore the umask for unnamed files. False if the umask is unknown. Reads the umask
/// only if no bit is missing, because reading it is the slowest step here.
bool apply_umask(int file)
{
  constexpr mode_t k_all = 0666;
  struct stat status {};
  if (::fstat(file, &status) == 0 && (status.st_mode & k_all) != k_all) return true;
  auto const mask = read_umask();
  return mask >= 0 && ::fchmod(file, 0666U & ~static_cast<unsigned>(mask)) == 0;
}

}  // namespace

int open_unnamed(std::filesystem::path const& folder)
{
  auto const file =
      avoid_standard_streams(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  if (file < 0) return -1;
  auto const can_be_named = ::access("/proc/self/fd", X_OK) == 0;
  if (can_be_named && apply_umask(file)) return file;
  ::close(file);
  errno = EOPNOTSUPP;
  return -1;
}

std::filesystem::path scratch_folder()
{
  auto folder = environment("TMPDIR");
  return folder.empty() ? "/tmp" : folder;
}

int open_scratch(std::filesystem::path const& folder)
{
  if (auto const file =
          avoid_standard_streams(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
      file >= 0)
    return file;
  temporary_name const name(AT_FDCWD, add_random((folder / "fatlink").string()));
  auto const file =
      avoid_standard_streams(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file >= 0) name.remove();
  return file;
}

}  // namespace fatlink::detail
