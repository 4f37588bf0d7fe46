// SPDX-License-Identifier: Apache-2.0
#include "util/files/open_below.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "util/files/read_file.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

/// The name of `file` below `folder`; empty: it is not below.
fs::path name_below(fs::path const& file, fs::path const& folder)
{
  auto const [end, rest] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  if (end != folder.end()) return {};
  fs::path name;
  for (auto part = rest; part != file.end(); ++part) name /= *part;
  return name;
}

int open_beneath(int folder, fs::path const& name, int flags, std::uint64_t resolve)
{
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.resolve = resolve;
  return static_cast<int>(::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how));
}

/// Whether the kernel, or a filter of a container, has no openat2.
bool lacks_openat2(int error)
{
  return error == ENOSYS || error == EPERM;
}

file_kind_below kind_of_error(int error)
{
  if (error == EXDEV) return file_kind_below::outside;
  if (error == EACCES || error == EMFILE || error == ENFILE) return file_kind_below::unreadable;
  return file_kind_below::missing;
}

file_kind_below kind_of_mode(mode_t mode)
{
  if (S_ISREG(mode)) return file_kind_below::regular;
  return S_ISDIR(mode) ? file_kind_below::folder : file_kind_below::irregular;
}

}  // namespace

base_folder::base_folder(fs::path path)
    : path_(std::move(path)),
      folder_(std::make_shared<descriptor>(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)))
{
}

/// Returns -1 with errno EXDEV if it is not below.
int base_folder::open_resolved(std::string const& name, int flags) const
{
  std::error_code failure;
  auto const below = name_below(real_path(path_ / name, failure), path_);
  errno = EXDEV;
  if (failure || below.empty()) return -1;
  auto const file =
      open_beneath(folder_->get(), below, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
  if (file >= 0 || !lacks_openat2(errno)) return file;
  descriptor opened(::openat(folder_->get(), below.c_str(), flags | O_CLOEXEC | O_NOFOLLOW));
  auto const link = detail::format("/proc/self/fd/{}", opened.get());
  auto const real = fs::read_symlink(link, failure);
  errno = EXDEV;
  if (failure || name_below(real, path_).empty()) return -1;
  return ::dup(opened.get());
}

file_below base_folder::open(std::string const& name, int flags) const
{
  if (name.empty() || name == ".." || name.starts_with("../") || name.starts_with('/'))
    return {file_kind_below::outside};
  auto number = open_beneath(folder_->get(), name, flags, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
  // A link may state the whole path of a file below the folder.
  if (number < 0 && (errno == EXDEV || lacks_openat2(errno))) number = open_resolved(name, flags);
  if (number < 0) return {kind_of_error(errno)};
  file_below opened{.file = std::make_unique<descriptor>(number)};
  struct ::stat status = {};
  if (::fstat(number, &status) != 0) return {};
  opened.kind = kind_of_mode(status.st_mode);
  opened.size = static_cast<std::uint64_t>(status.st_size);
  return opened;
}

file_kind_below base_folder::kind_of(std::string const& name) const
{
  return open(name, O_PATH).kind;
}

file_below base_folder::open(std::string const& name) const
{
  if (auto const kind = kind_of(name); kind != file_kind_below::regular) return {kind};
  auto opened = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (opened.kind != file_kind_below::regular) opened.file.reset();
  return opened;
}

}  // namespace fatlink::detail
