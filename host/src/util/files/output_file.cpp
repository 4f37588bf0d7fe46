// SPDX-License-Identifier: Apache-2.0
#include "util/files/output_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "fatlink/error.hpp"
#include "util/process/environment.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

signal_guard::signal_guard(int signal) noexcept
{
  sigemptyset(&signal_);
  sigaddset(&signal_, signal);
  sigset_t pending;
  sigpending(&pending);
  was_pending_ = sigismember(&pending, signal) == 1;
  pthread_sigmask(SIG_BLOCK, &signal_, &before_);
}

signal_guard::~signal_guard()
{
  auto const code = errno;
  timespec const at_once{};
  if (!was_pending_) sigtimedwait(&signal_, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = code;
}

namespace {

/// Whether a write that failed with errno is to be tried again.
bool can_retry(int file) noexcept
{
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd room{.fd = file, .events = POLLOUT, .revents = 0};
  return ::poll(&room, 1, -1) > 0 || errno == EINTR;
}

}  // namespace

bool write_all(int file, bytes_view bytes) noexcept
{
  while (!bytes.empty()) {
    auto const written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && can_retry(file)) continue;
    if (written == 0) errno = EIO;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

int avoid_standard_streams(int opened) noexcept
{
  if (opened < 0 || opened > STDERR_FILENO) return opened;
  auto const above = ::fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  auto const code = errno;
  ::close(opened);
  errno = code;
  return above;
}

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

/// A descriptor of a new unnamed file in `folder`, open for reading and writing; linkat on
/// /proc/self/fd can name it. -1 sets errno; some file systems have no unnamed files.
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

}  // namespace

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

namespace {

/// What the handler needs, without a lock: it takes a slot by exchanging it with null.
std::array<std::atomic<temporary_name const*>, 64> slots{};

int register_name(temporary_name const* name)
{
  for (std::size_t i = 0; i < slots.size(); ++i) {
    temporary_name const* empty = nullptr;
    if (slots[i].compare_exchange_strong(empty, name)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

std::string add_random(std::string const& path)
{
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random)
    random = static_cast<std::uint64_t>(::getpid()) << 32U | static_cast<unsigned>(::clock());
  return detail::format("{}.{:016x}", path, random);
}

temporary_name::temporary_name(int folder, std::string path)
    : folder_(folder), path_(std::move(path))
{
  slot_ = register_name(this);
}

temporary_name::~temporary_name()
{
  if (slot_ < 0) return;
  if (slots[static_cast<std::size_t>(slot_)].exchange(nullptr) != nullptr) return;
  for (;;) ::pause();  // the handler has the name, and the process is about to end
}

void temporary_name::remove() const noexcept
{
  auto const code = errno;
  ::unlinkat(folder_, path_.c_str(), 0);
  errno = code;
}

void remove_temporaries() noexcept
{
  for (auto& slot : slots)
    if (auto const* name = slot.exchange(nullptr); name != nullptr) name->remove();
}

}  // namespace fatlink::detail

namespace fatlink {
namespace {

constexpr char const* k_keeping = "cannot be kept in a temporary file ($TMPDIR, else /tmp)";

/// Devices and FIFOs are written directly: they cannot be replaced by renaming.
bool is_special(std::filesystem::path const& path)
{
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

std::filesystem::path folder_of(std::filesystem::path const& path)
{
  return path.has_parent_path() ? path.parent_path() : ".";
}

/// The target of `path` through symbolic links; it need not exist. With too many links, the path at
/// which the system stops (ELOOP).
std::filesystem::path follow_links(std::filesystem::path path)
{
  constexpr int k_most_links = 40;  // as Linux follows
  std::error_code failed;
  for (int i = 0; i < k_most_links && std::filesystem::is_symlink(path, failed); ++i) {
    auto const target = std::filesystem::read_symlink(path, failed);
    if (failed) break;
    path = folder_of(path) / target;
  }
  return path;
}

char const* remedy(int code)
{
  if (code == ENOSPC || code == EDQUOT) return "free space there, or name a file on another disk";
  if (code == EFBIG) return "raise the limit on file sizes (ulimit -f), or write less";
  if (code == EPIPE) return "keep the reader of the pipe running";
  return "name a file in an existing folder that you can write to";
}

}  // namespace

struct output_file::temporary : detail::temporary_name {
  using temporary_name::temporary_name;
};

output_file::output_file(std::filesystem::path path)
    : path_(std::move(path)), destination_(follow_links(path_))
{
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) {
    errno = EISDIR;
    fail("cannot be written");
  }
  if (is_special(path_) || std::filesystem::is_symlink(destination_, ignored))
    descriptor_ = detail::avoid_standard_streams(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  else
    open_beside();
  if (descriptor_ < 0) fail("cannot be written");
}

output_file::output_file(int stream, std::string name)
    : path_(std::move(name)),
      descriptor_(detail::open_scratch(detail::scratch_folder())),
      stream_(stream)
{
  if (descriptor_ < 0) fail(k_keeping);
}

output_file::~output_file()
{
  if (descriptor_ >= 0) ::close(descriptor_);
  if (temporary_) temporary_->remove();
}

void output_file::open_beside()
{
  descriptor_ = detail::open_unnamed(folder_of(destination_));
  is_unnamed_ = descriptor_ >= 0;
  if (is_unnamed_) return;
  temporary_ = std::make_unique<temporary>(AT_FDCWD, detail::add_random(destination_.string()));
  descriptor_ = detail::avoid_standard_streams(
      ::open(temporary_->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (descriptor_ < 0) temporary_.reset();
}

void output_file::write(bytes_view bytes)
{
  if (!detail::write_all(descriptor_, bytes)) fail(stream_ >= 0 ? k_keeping : "cannot be written");
}

void output_file::commit()
{
  if (stream_ >= 0) return copy_to_stream();
  if (is_unnamed_) put_in_place();
  auto const closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0) fail("cannot be written");
  if (!temporary_) return;
  if (std::rename(temporary_->c_str(), destination_.c_str()) != 0) fail("cannot be put in place");
  temporary_.reset();
}

/// Names the unnamed file. If the name exists, the file gets a temporary name, which commit()
/// renames.
void output_file::put_in_place()
{
  auto const self = detail::format("/proc/self/fd/{}", descriptor_);
  auto const give = [&](char const* name) {
    return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
  };
  if (give(destination_.c_str())) return;
  if (errno != EEXIST) fail("cannot be put in place");
  temporary_ = std::make_unique<temporary>(AT_FDCWD, detail::add_random(destination_.string()));
  if (!give(temporary_->c_str())) fail("cannot be put in place");
}

void output_file::copy_to_stream()
{
  std::vector<std::byte> part(std::size_t{1} << 20);
  if (::lseek(descriptor_, 0, SEEK_SET) != 0) fail("cannot be read back");
  for (;;) {
    auto const size = ::read(descriptor_, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail("cannot be read back");
    if (size == 0) return;
    if (!detail::write_all(stream_, bytes_view(part).first(static_cast<std::size_t>(size))))
      fail("cannot be written");
  }
}

void output_file::fail(char const* doing) const
{
  auto const code = errno;
  auto const reason = std::generic_category().message(code);
  throw file_error(stage::report,
                   {.message = detail::format("{}: {}: {}", path_.string(), doing, reason),
                    .input = path_.string(),
                    .code = code == EPIPE ? vendor_code("EPIPE") : error_code::unwritable_file,
                    .hint = remedy(code)});
}

}  // namespace fatlink
