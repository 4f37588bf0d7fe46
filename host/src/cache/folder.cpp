// SPDX-License-Identifier: Apache-2.0
#include "cache/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>

#include "util/files/output_file.hpp"
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

void folder::fail_file(char const* action, std::string const& name) const
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
    throw folder_error{detail::format("others may write to {}: run chmod go-w on it, or remove it",
                                      (path_ / name).string()),
                       EPERM};
}

void folder::check() const
{
  struct stat facts {};
  if (::fstat(descriptor(), &facts) != 0) throw_fault("opening", path_);
  if (!is_trusted(facts.st_uid))
    throw folder_error{detail::format("{} belongs to user {}, not to this one{}", path_.string(),
                                      facts.st_uid, remedy(kind_)),
                       EPERM};
  if (may_others_write(facts))
    throw folder_error{
        detail::format("others may write to {}: run chmod go-w on it", path_.string()), EPERM};
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
    throw folder_error{
        detail::format("{} is not a folder, or is a symbolic link, which is not followed{}",
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
    fail_file("opening", name);
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) fail_file("reading", name);
  auto const size = static_cast<std::uint64_t>(facts.st_size);
  if (!S_ISREG(facts.st_mode) || !is_trusted(facts.st_uid) || may_others_write(facts) ||
      size > most)
    return std::nullopt;
  byte_buffer bytes(size);
  if (!read_all(file.get(), bytes)) {
    if (errno != 0) fail_file("reading", name);
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
  fail_file("reading the status of", name);
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

void folder::remove_and_fail(std::string const& file, char const* action,
                             std::string const& name) const
{
  auto const code = errno;
  ::unlinkat(descriptor(), file.c_str(), 0);
  errno = code;
  fail_file(action, name);
}

void folder::write_temporary(std::string const& file, std::string const& name,
                             bytes_view bytes) const
{
  detail::descriptor opened(create(file, kind_ == kind::own ? 0600U : 0644U));
  if (opened.get() < 0) fail_file("writing", name);
  auto const is_written =
      (kind_ == kind::own || ::fchmod(opened.get(), 0644) == 0) &&  // whatever the umask
      detail::write_all(opened.get(), bytes) &&
      opened.close() == 0;  // network file systems may report a write error only here
  if (!is_written) remove_and_fail(file, "writing", name);
}

/// Renames the temporary file `file` to `name`. A folder in its place is removed first.
void folder::rename_over(std::string const& file, std::string const& name) const
{
  auto const rename = [&] {
    return ::renameat(descriptor(), file.c_str(), descriptor(), name.c_str()) == 0;
  };
  if (rename()) return;
  if (errno != EISDIR) remove_and_fail(file, "renaming a temporary file to", name);
  try {
    remove_any(name);
  } catch (folder_error const& refusal) {
    errno = refusal.code;
    remove_and_fail(file, "replacing", name);
  }
  if (!rename()) remove_and_fail(file, "renaming a temporary file to", name);
}

void folder::write(std::string const& name, bytes_view bytes) const
{
  detail::signal_guard const guard(SIGXFSZ);
  detail::temporary_name const temporary(descriptor(), temporary_file_of(name));
  write_temporary(temporary.path(), name, bytes);
  rename_over(temporary.path(), name);
}

int folder::create(std::string const& name, unsigned mode) const noexcept
{
  return detail::avoid_standard_streams(::openat(
      descriptor(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
}

void folder::write_over(std::string const& name, bytes_view bytes) const
{
  detail::signal_guard const guard(SIGXFSZ);
  remove_obstacle(name);
  auto file = facts(name);
  if (file && file->size != bytes.size()) remove(name);
  auto const can_overwrite = file && file->size == bytes.size();
  detail::descriptor const opened(
      can_overwrite
          ? detail::avoid_standard_streams(::openat(descriptor(), name.c_str(),
                                                    O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK))
          : create(name, 0600));
  if (opened.get() < 0) fail_file("opening", name);
  if (!detail::write_all(opened.get(), bytes)) fail_file("writing", name);
}

void folder::remove_any(std::string const& name) const
{
  if (::unlinkat(descriptor(), name.c_str(), 0) == 0 || errno == ENOENT) return;
  if (errno != EISDIR) fail_file("removing", name);
  if (::unlinkat(descriptor(), name.c_str(), AT_REMOVEDIR) == 0) return;
  if (errno != ENOTEMPTY && errno != EEXIST) fail_file("removing", name);
  auto const aside = detail::add_random(name) + ".aside";
  if (::renameat(descriptor(), name.c_str(), descriptor(), aside.c_str()) != 0)
    fail_file("renaming", name);
}

void folder::remove_obstacle(std::string const& name) const
{
  auto const file = status(name);
  if (!file) return;
  auto const is_own = S_ISREG(file->st_mode) && file->st_nlink == 1 && is_trusted(file->st_uid) &&
                      !may_others_write(*file);
  if (!is_own) remove_any(name);
}

bool folder::remove(std::string const& name) const
{
  if (::unlinkat(descriptor(), name.c_str(), 0) == 0) return true;
  if (errno == ENOENT) return false;
  fail_file("removing", name);
}

void throw_fault(char const* action, std::filesystem::path const& path)
{
  auto const code = errno;
  throw folder_error{
      detail::format("{} {}: {}", action, path.string(), std::generic_category().message(code)),
      code};
}

namespace {

constexpr std::string_view k_suffix = ".tmp";
constexpr std::size_t k_random_digits = 16;

}  // namespace

std::string temporary_file_of(std::string const& name)
{
  return detail::add_random(name) + std::string(k_suffix);
}

std::optional<std::string> target_of_temporary_file(std::string const& file)
{
  auto const ending_size = 1 + k_random_digits + k_suffix.size();
  if (!file.ends_with(k_suffix) || file.size() <= ending_size) return std::nullopt;
  auto const name_size = file.size() - ending_size;
  auto const digits = std::string_view(file).substr(name_size + 1, k_random_digits);
  if (file[name_size] != '.' ||
      digits.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return std::nullopt;
  return file.substr(0, name_size);
}

namespace {

constexpr char const* k_lock_file = "lock";
constexpr long long k_ledger_offset = 1LL << 62;
constexpr std::size_t k_offset_digits = 15;  // keeps the entries' offsets below the ledger's

/// The offset of the entry `name`: the first 15 of its hexadecimal digits. Two entries that share
/// them only wait for each other.
long long offset_of(std::string const& name)
{
  long long offset = 0;
  auto const digits = std::min(name.size(), k_offset_digits);
  std::from_chars(name.data(), name.data() + digits, offset, 16);
  return offset;
}

struct ::flock range_of(short type, long long offset)
{
  struct ::flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = offset;
  range.l_len = 1;
  return range;
}

int set(int file, short type, long long offset)
{
  auto range = range_of(type, offset);
  return ::fcntl(file, F_OFD_SETLK, &range);
}

/// Whether another owner holds the lock. Keeps errno.
bool is_held(int file, long long offset)
{
  auto const code = errno;
  auto range = range_of(F_WRLCK, offset);
  auto const is_known = ::fcntl(file, F_OFD_GETLK, &range) == 0;
  errno = code;
  return is_known && range.l_type != F_UNLCK;
}

enum class attempt { locked, held_by_other, refused };

/// EAGAIN, EACCES and EINTR without another owner may mean that the lock was released meanwhile:
/// tries again for 13 ms, and then assumes that locks do not work in this folder.
attempt try_lock(int file, long long offset)
{
  constexpr auto k_longest_pause = std::chrono::microseconds(6400);
  for (auto pause = std::chrono::microseconds(50);; pause *= 2) {
    if (set(file, F_WRLCK, offset) == 0) return attempt::locked;
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) return attempt::refused;
    if (is_held(file, offset)) return attempt::held_by_other;
    if (pause > k_longest_pause) return attempt::refused;
    auto const code = errno;
    std::this_thread::sleep_for(pause);
    errno = code;
  }
}

/// Opens the lock file; replaces anything else in its place.
int open_lock(folder const& cache_folder)
{
  cache_folder.remove_obstacle(k_lock_file);
  return detail::avoid_standard_streams(
      ::openat(cache_folder.descriptor(), k_lock_file,
               O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
}

}  // namespace

lock::locked_byte::~locked_byte()
{
  (void)set(file_->get(), F_UNLCK, offset_);
}

std::optional<lock> lock::try_byte(folder const& cache_folder, long long offset)
{
  auto file = std::make_unique<detail::descriptor>(open_lock(cache_folder));
  if (file->get() < 0) cache_folder.fail_file("opening", k_lock_file);
  auto const result = try_lock(file->get(), offset);
  if (result == attempt::refused) cache_folder.fail_file("locking", k_lock_file);
  if (result == attempt::held_by_other) return std::nullopt;
  return lock(std::make_unique<locked_byte>(std::move(file), offset));
}

std::optional<lock> lock::try_entry(folder const& cache_folder, std::string const& name)
{
  return try_byte(cache_folder, offset_of(name));
}

std::optional<lock> lock::ledger(folder const& cache_folder, std::chrono::milliseconds wait_limit)
{
  auto const end = std::chrono::steady_clock::now() + wait_limit;
  for (auto pause = std::chrono::microseconds(50);;
       pause = std::min(2 * pause, std::chrono::microseconds(5000))) {
    if (auto result = try_byte(cache_folder, k_ledger_offset)) return result;
    if (std::chrono::steady_clock::now() >= end) return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace fatlink::cache
