// SPDX-License-Identifier: Apache-2.0
#include "cache/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "util/files/temporary_name.hpp"
#include "util/files/write_all.hpp"
#include "util/process/signal_guard.hpp"
#include "util/text/format.hpp"

namespace fatlink::cache {
namespace {

constexpr std::string_view k_temporary = ".tmp";
constexpr std::size_t k_random_digits = 16;
constexpr int k_reading = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

std::chrono::nanoseconds since_1970(timespec time)
{
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

char const* remedy(folder::kind what)
{
  return what == folder::kind::own ? ": name another in FATLINK_CACHE_DIR"
                                   : ": this layer is left out";
}

/// Finer than the kernel's own time of a write, which stands still for milliseconds.
timespec current_time() noexcept
{
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

void set_used_now(int file) noexcept
{
  auto const now = current_time();
  timespec const times[2] = {now, now};
  (void)::futimens(file, times);  // on a read-only file system it stays as it is
}

/// Whether opening for reading failed because of what is there: nothing, a link, a socket.
bool is_no_file(int code) noexcept
{
  return code == ENOENT || code == ELOOP || code == ENXIO || code == ENODEV;
}

}  // namespace

std::optional<std::string> written_as(std::string const& name)
{
  auto const tail = 1 + k_random_digits + k_temporary.size();
  if (!name.ends_with(k_temporary) || name.size() <= tail) return std::nullopt;
  auto const stem = name.size() - tail;
  auto const digits = std::string_view(name).substr(stem + 1, k_random_digits);
  if (name[stem] != '.' || digits.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return std::nullopt;
  return name.substr(0, stem);
}

void folder::fail(char const* doing, std::string const& name) const
{
  auto const code = errno;
  auto const file = name.empty() ? path_.string() : (path_ / name).string();
  throw fault{detail::format("{} {}: {}", doing, file, std::generic_category().message(code)),
              code};
}

bool folder::is_trusted(unsigned owner) const
{
  if (owner == ::geteuid()) return true;
  if (kind_ == kind::own) return false;
  struct stat program {};
  return owner == 0 || (::stat("/proc/self/exe", &program) == 0 && owner == program.st_uid);
}

void folder::check() const
{
  struct stat facts {};
  if (::fstat(descriptor(), &facts) != 0) fail("opening", {});
  if (!is_trusted(facts.st_uid))
    throw fault{detail::format("{} belongs to user {}, not to this one{}", path_.string(),
                               facts.st_uid, remedy(kind_)),
                EPERM};
  auto const others = kind_ == kind::own ? S_IWGRP | S_IWOTH : S_IWOTH;
  if ((facts.st_mode & static_cast<unsigned>(others)) != 0)
    throw fault{detail::format("others may write to {}: chmod go-w it", path_.string()), EPERM};
}

std::optional<folder> folder::open(std::filesystem::path const& given, kind what)
{
  // With a slash at its end a symbolic link would be followed.
  auto const path = given.has_filename() ? given : given.parent_path();
  auto opened = std::make_unique<detail::descriptor>(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  auto const missing = opened->get() < 0 && errno == ENOENT;
  folder made(path, what, std::move(opened));
  if (missing) return std::nullopt;
  if (made.descriptor() < 0) {
    if (errno == ENOTDIR || errno == ELOOP)
      throw fault{detail::format("{} is no folder, or a symbolic link, which is not followed{}",
                                 path.string(), remedy(what)),
                  errno};
    made.fail("opening", {});
  }
  made.check();
  return made;
}

folder folder::make(std::filesystem::path const& path, kind what)
{
  if (auto found = open(path, what)) return std::move(*found);
  auto const mode = what == kind::own ? 0700U : 0755U;
  for (auto part = path.begin(); part != path.end(); ++part) {
    std::filesystem::path above;
    for (auto i = path.begin(); i != std::next(part); ++i) above /= *i;
    if (::mkdir(above.c_str(), mode) == 0) {
      if (what == kind::layer) (void)::chmod(above.c_str(), mode);  // whatever the umask
      continue;
    }
    auto const code = errno;
    if (::access(above.c_str(), F_OK) == 0) continue;  // as / is, which refuses for another reason
    errno = code;
    folder(above, what, std::make_unique<detail::descriptor>(-1)).fail("making", {});
  }
  if (auto found = open(path, what)) return std::move(*found);
  errno = ENOENT;
  folder(path, what, std::make_unique<detail::descriptor>(-1)).fail("opening", {});
}

std::optional<byte_buffer> folder::read(std::string const& name, std::uint64_t most,
                                        bool mark_used) const
{
  detail::descriptor const file(::openat(descriptor(), name.c_str(), k_reading));
  if (file.get() < 0) {
    if (is_no_file(errno)) return std::nullopt;
    fail("opening", name);
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) fail("reading", name);
  auto const size = static_cast<std::uint64_t>(facts.st_size);
  if (!S_ISREG(facts.st_mode) || !is_trusted(facts.st_uid) || size > most) return std::nullopt;
  byte_buffer bytes(size);
  for (std::size_t done = 0; done < bytes.size();) {
    auto const got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("reading", name);
    if (got == 0) return std::nullopt;  // it shrank
    done += static_cast<std::size_t>(got);
  }
  if (mark_used) set_used_now(file.get());
  return bytes;
}

void folder::write(std::string const& name, bytes_view bytes) const
{
  detail::signal_guard const guard(SIGXFSZ);
  detail::temporary_name const temporary(descriptor(),
                                         detail::add_random(name) + std::string(k_temporary));
  auto const mode = kind_ == kind::own ? 0600U : 0644U;
  auto const give_up = [&](char const* doing) {
    auto const code = errno;
    ::unlinkat(descriptor(), temporary.c_str(), 0);
    errno = code;
    fail(doing, name);
  };
  {
    detail::descriptor file(create(temporary.path(), mode));
    if (file.get() < 0) fail("writing", name);
    if (kind_ == kind::layer && ::fchmod(file.get(), 0644) != 0) give_up("writing");
    if (!detail::write_all(file.get(), bytes)) give_up("writing");
    if (file.close() != 0) give_up("writing");  // where a network file system says so at last
  }
  auto const put_in_place = [&] {
    return ::renameat(descriptor(), temporary.c_str(), descriptor(), name.c_str()) == 0;
  };
  if (put_in_place()) return;
  if (errno != EISDIR) give_up("putting in place");
  try {
    remove_any(name);
  } catch (fault const& refusal) {
    errno = refusal.code;
    give_up("replacing");
  }
  if (!put_in_place()) give_up("putting in place");
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
  auto const is_there = file && file->size == bytes.size();
  detail::descriptor const opened(
      is_there ? detail::avoid_standard_streams(::openat(
                     descriptor(), name.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK))
               : create(name, 0600));
  if (opened.get() < 0) fail("opening", name);
  if (!detail::write_all(opened.get(), bytes)) fail("writing", name);
}

void folder::remove_any(std::string const& name) const
{
  if (::unlinkat(descriptor(), name.c_str(), 0) == 0 || errno == ENOENT) return;
  if (errno != EISDIR) fail("removing", name);
  if (::unlinkat(descriptor(), name.c_str(), AT_REMOVEDIR) == 0) return;
  if (errno != ENOTEMPTY && errno != EEXIST) fail("removing", name);
  auto const aside = detail::add_random(name) + ".aside";
  if (::renameat(descriptor(), name.c_str(), descriptor(), aside.c_str()) != 0)
    fail("renaming", name);
}

void folder::remove_obstacle(std::string const& name) const
{
  struct stat found {};
  if (::fstatat(descriptor(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return;
    fail("reading the facts of", name);
  }
  auto const is_own = S_ISREG(found.st_mode) && found.st_nlink == 1 && is_trusted(found.st_uid);
  if (!is_own) remove_any(name);
}

bool folder::has(std::string const& name) const
{
  struct stat found {};
  if (::fstatat(descriptor(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno == ENOENT) return false;
  fail("reading the facts of", name);
}

void folder::mark_used(std::string const& name) const noexcept
{
  auto const now = current_time();
  timespec const times[2] = {now, now};
  (void)::utimensat(descriptor(), name.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

bool folder::remove(std::string const& name) const
{
  if (::unlinkat(descriptor(), name.c_str(), 0) == 0) return true;
  if (errno == ENOENT) return false;
  fail("removing", name);
}

std::optional<file_facts> folder::facts(std::string const& name) const
{
  struct stat found {};
  if (::fstatat(descriptor(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::nullopt;
    fail("reading the facts of", name);
  }
  if (!S_ISREG(found.st_mode)) return std::nullopt;
  return file_facts{name, static_cast<std::uint64_t>(found.st_size), since_1970(found.st_mtim)};
}

std::vector<std::string> folder::names() const
{
  auto const again = ::openat(descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  auto* const opened = again < 0 ? nullptr : ::fdopendir(again);
  if (opened == nullptr) {
    if (again >= 0) ::close(again);
    fail("listing", {});
  }
  std::unique_ptr<DIR, int (*)(DIR*)> const entries(opened, &::closedir);
  std::vector<std::string> names;
  errno = 0;
  while (auto const* entry = ::readdir(entries.get())) {
    auto const name = std::string_view(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) fail("listing", {});
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
