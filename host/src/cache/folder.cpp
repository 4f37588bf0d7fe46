// SPDX-License-Identifier: Apache-2.0
#include "cache/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "util/text/format.hpp"

namespace fatlink::cache {
namespace {

constexpr int k_reading = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

std::chrono::nanoseconds since_1970(timespec time)
{
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

char const* remedy(folder::kind folder_kind)
{
  return folder_kind == folder::kind::own ? ": use another folder (FATLINK_CACHE_DIR)"
                                          : ": this layer is not used";
}

/// Finer than the time that the kernel sets on a write, which advances in steps of milliseconds.
timespec current_time() noexcept
{
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

void set_used_now(int file) noexcept
{
  auto const time = current_time();
  timespec const times[2] = {time, time};
  (void)::futimens(file, times);  // fails on a read-only file system, without consequences
}

/// Whether `code` says that the name is missing, a symbolic link, a socket or a device.
bool is_not_a_file(int code) noexcept
{
  return code == ENOENT || code == ELOOP || code == ENXIO || code == ENODEV;
}

/// Reads `bytes.size()` bytes. False if the file ends before, or with errno set on an error.
bool read_all(int file, std::span<std::byte> bytes)
{
  while (!bytes.empty()) {
    auto const count = ::read(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = 0;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

/// Creates `path` and the folders above it. Layers are readable by all users, whatever the umask.
void make_folders(std::filesystem::path const& path, folder::kind folder_kind)
{
  auto const mode = folder_kind == folder::kind::own ? 0700U : 0755U;
  std::filesystem::path prefix;
  for (auto const& part : path) {
    prefix /= part;
    if (::mkdir(prefix.c_str(), mode) == 0) {
      if (folder_kind == folder::kind::layer) (void)::chmod(prefix.c_str(), mode);
      continue;
    }
    auto const code = errno;
    if (::access(prefix.c_str(), F_OK) == 0) continue;  // for example /, where mkdir gives EISDIR
    errno = code;
    throw_fault("creating", prefix);
  }
}

}  // namespace

void folder::fail(char const* action, std::string const& name) const
{
  throw_fault(action, path_ / name);
}

bool folder::is_trusted(unsigned owner) const
{
  if (owner == ::geteuid()) return true;
  if (kind_ == kind::own) return false;
  struct stat program {};
  return owner == 0 || (::stat("/proc/self/exe", &program) == 0 && owner == program.st_uid);
}

bool folder::may_others_write(struct stat const& facts) const noexcept
{
  auto const forbidden = kind_ == kind::own ? S_IWGRP | S_IWOTH : S_IWOTH;
  return (facts.st_mode & static_cast<unsigned>(forbidden)) != 0;
}

void folder::check_writers(std::string const& name) const
{
  auto const file = status(name);
  if (file && S_ISREG(file->st_mode) && may_others_write(*file))
    throw fault{detail::format("others may write to {}: run chmod go-w on it, or remove it",
                               (path_ / name).string()),
                EPERM};
}

void folder::check() const
{
  struct stat facts {};
  if (::fstat(descriptor(), &facts) != 0) throw_fault("opening", path_);
  if (!is_trusted(facts.st_uid))
    throw fault{detail::format("{} belongs to user {}, not to this one{}", path_.string(),
                               facts.st_uid, remedy(kind_)),
                EPERM};
  if (may_others_write(facts))
    throw fault{detail::format("others may write to {}: run chmod go-w on it", path_.string()),
                EPERM};
}

std::optional<folder> folder::open(std::filesystem::path const& path, kind folder_kind)
{
  // With a slash at the end, open() would follow a symbolic link.
  auto const name = path.has_filename() ? path : path.parent_path();
  auto descriptor = std::make_unique<detail::descriptor>(
      ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  auto const code = descriptor->get() < 0 ? errno : 0;
  if (code == ENOENT) return std::nullopt;
  if (code == ENOTDIR || code == ELOOP)
    throw fault{detail::format("{} is not a folder, or is a symbolic link, which is not followed{}",
                               name.string(), remedy(folder_kind)),
                code};
  if (code != 0) throw_fault("opening", name);
  folder opened(name, folder_kind, std::move(descriptor));
  opened.check();
  return opened;
}

folder folder::make(std::filesystem::path const& path, kind folder_kind)
{
  if (auto existing = open(path, folder_kind)) return std::move(*existing);
  make_folders(path, folder_kind);
  if (auto created = open(path, folder_kind)) return std::move(*created);
  errno = ENOENT;  // another process removed it meanwhile
  throw_fault("opening", path);
}

std::optional<byte_buffer> folder::read(std::string const& name, std::uint64_t most,
                                        bool mark_used) const
{
  detail::descriptor const file(::openat(descriptor(), name.c_str(), k_reading));
  if (file.get() < 0) {
    if (is_not_a_file(errno)) return std::nullopt;
    fail("opening", name);
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) fail("reading", name);
  auto const size = static_cast<std::uint64_t>(facts.st_size);
  if (!S_ISREG(facts.st_mode) || !is_trusted(facts.st_uid) || may_others_write(facts) ||
      size > most)
    return std::nullopt;
  byte_buffer bytes(size);
  if (!read_all(file.get(), bytes)) {
    if (errno != 0) fail("reading", name);
    return std::nullopt;  // the file became shorter meanwhile
  }
  if (mark_used) set_used_now(file.get());
  return bytes;
}

/// The result of lstat; empty if nothing is at `name`.
std::optional<struct stat> folder::status(std::string const& name) const
{
  struct stat status {};
  if (::fstatat(descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return status;
  if (errno == ENOENT) return std::nullopt;
  fail("reading the status of", name);
}

bool folder::has(std::string const& name) const
{
  return status(name).has_value();
}

void folder::mark_used(std::string const& name) const noexcept
{
  auto const time = current_time();
  timespec const times[2] = {time, time};
  (void)::utimensat(descriptor(), name.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

std::optional<file_facts> folder::facts(std::string const& name) const
{
  auto const file = status(name);
  if (!file || !S_ISREG(file->st_mode)) return std::nullopt;
  return file_facts{name, static_cast<std::uint64_t>(file->st_size), since_1970(file->st_mtim)};
}

std::vector<std::string> folder::names() const
{
  auto const listing = ::openat(descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  auto* const stream = listing < 0 ? nullptr : ::fdopendir(listing);
  if (stream == nullptr) {
    if (listing >= 0) ::close(listing);
    throw_fault("listing", path_);
  }
  std::unique_ptr<DIR, int (*)(DIR*)> const entries(stream, &::closedir);
  std::vector<std::string> names;
  errno = 0;
  while (auto const* entry = ::readdir(entries.get())) {
    auto const name = std::string_view(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) throw_fault("listing", path_);
  return names;
}

std::vector<file_facts> folder::list() const
{
  std::vector<file_facts> files;
  for (auto const& name : names())
    if (auto file = facts(name)) files.push_back(std::move(*file));
  return files;
}

}  // namespace fatlink::cache
