// SPDX-License-Identifier: Apache-2.0
#include "util/files/read_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "util/files/output_file.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

[[noreturn]] void fail_file(std::filesystem::path const& path, std::string const& cause,
                            std::string hint)
{
  throw file_error(stage::input, {.message = detail::format("{}: {}", path.string(), cause),
                                  .input = path.string(),
                                  .code = error_code::unreadable_file,
                                  .hint = std::move(hint)});
}

std::string reason(int code)
{
  return std::generic_category().message(code);
}

/// Copies `stream` up to its end; returns the number of bytes.
std::uint64_t copy_stream(int stream, descriptor const& copy, std::string const& name)
{
  std::vector<std::byte> part(std::size_t{1} << 20);
  for (std::uint64_t size = 0;;) {
    auto const got = ::read(stream, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_file(name, reason(errno), "redirect it from a file or a pipe");
    if (got == 0) return size;
    if (!write_all(copy.get(), bytes_view(part).first(static_cast<std::size_t>(got))))
      fail_file(name, "cannot be kept in a temporary file: " + reason(errno),
                "set TMPDIR to a folder with free space");
    size += static_cast<std::uint64_t>(got);
  }
}

}  // namespace

descriptor::~descriptor()
{
  if (number_ >= 0) ::close(number_);
}

int descriptor::close() noexcept
{
  return ::close(std::exchange(number_, -1));
}

opened_file open_regular(std::filesystem::path const& path, std::string const& hint)
{
  // O_NONBLOCK: opening a FIFO does not wait; it is refused afterwards.
  auto file = std::make_unique<descriptor>(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file->get() < 0) fail_file(path, errno == ENOENT ? "no such file" : reason(errno), hint);
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) fail_file(path, reason(errno), hint);
  if (S_ISDIR(status.st_mode)) fail_file(path, "is a directory", hint);
  if (!S_ISREG(status.st_mode)) fail_file(path, "is not a regular file", hint);
  return {std::move(file), static_cast<std::uint64_t>(status.st_size)};
}

opened_file open_stream(int stream, std::string const& name)
{
  struct stat status {};
  if (::fstat(stream, &status) != 0)
    fail_file(name, reason(errno), "redirect it from a file or a pipe");
  auto const is_whole = S_ISREG(status.st_mode) && ::lseek(stream, 0, SEEK_CUR) == 0;
  auto file = std::make_unique<descriptor>(is_whole ? ::fcntl(stream, F_DUPFD_CLOEXEC, 3)
                                                    : open_scratch(scratch_folder()));
  if (file->get() < 0)
    fail_file(name, "cannot be kept in a temporary file: " + reason(errno),
              "set TMPDIR to a folder with free space");
  auto const size =
      is_whole ? static_cast<std::uint64_t>(status.st_size) : copy_stream(stream, *file, name);
  return {std::move(file), size};
}

bool read_at(descriptor const& file, std::uint64_t offset, std::span<std::byte> buffer,
             std::filesystem::path const& path)
{
  while (!buffer.empty()) {
    auto const got = ::pread(file.get(), buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_file(path, reason(errno), "check the disk, then try again");
    if (got == 0) return false;
    buffer = buffer.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

byte_buffer read_file(std::filesystem::path const& path, std::uint64_t size_limit,
                      std::string const& hint)
{
  auto const opened = open_regular(path, hint);
  if (opened.size > size_limit)
    fail_file(path,
              detail::format("{} bytes are more than the {} allowed", opened.size, size_limit),
              hint);
  byte_buffer bytes(static_cast<std::size_t>(opened.size));
  if (!read_at(*opened.file, 0, bytes, path)) fail_file(path, "shrank while it was read", hint);
  return bytes;
}

// Folders and paths.

std::vector<std::filesystem::path> list_folder(std::filesystem::path const& folder)
{
  errno = 0;
  std::unique_ptr<DIR, int (*)(DIR*)> const entries(::opendir(folder.c_str()), &::closedir);
  if (entries == nullptr && errno == ENOMEM) throw std::bad_alloc();
  std::vector<std::filesystem::path> paths;
  if (entries == nullptr) return paths;
  while (auto const* entry = ::readdir(entries.get())) {
    std::string_view const name(entry->d_name);
    if (name != "." && name != "..") paths.push_back(folder / name);
  }
  return paths;
}

std::filesystem::path real_path(std::filesystem::path const& path, std::error_code& failure)
{
  auto real = std::filesystem::canonical(path, failure);
  if (failure == std::errc::not_enough_memory) throw std::bad_alloc();
  return real;
}

}  // namespace fatlink::detail
