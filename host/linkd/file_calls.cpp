// SPDX-License-Identifier: Apache-2.0
#include "file_calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "serve.hpp"

namespace fatlink {
namespace {

using file_kind = detail::looked_up_file::file_kind;

/// What the host has answered in this compile. It answers each path once.
class known_files {
 public:
  struct file {
    byte_buffer message = {};  ///< that `found` points into
    detail::looked_up_file found = {};
  };

  explicit known_files(detail::request_identity const& request) : request_(request) {}

  file const& find(std::string const& path)
  {
    std::lock_guard const lock(mutex_);
    auto const [entry, is_new] = files_.try_emplace(path);
    if (!is_new || is_own_name(path)) return entry->second;
    // The program's name has no folder, so that NVRTC looks for headers beside it, "sub/f.cuh", in
    // its working folder.
    auto const asked =
        path.starts_with('/') ? path : std::string(detail::k_source_folder) + '/' + path;
    if (!is_known_to_miss(asked)) ask(asked, entry->second);
    return entry->second;
  }

 private:
  /// NVRTC looks for these in its working folder, too, which has none.
  static bool is_own_name(std::string const& path)
  {
    return path == "." || path.starts_with("__nv_");
  }

  bool is_known_to_miss(std::string const& path) const
  {
    if (path.size() >= PATH_MAX) return true;
    for (auto end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
      if (missing_.contains(path.substr(0, end))) return true;
    return false;
  }

  void ask(std::string const& path, file& answer)
  {
    answer.message = ask_host(detail::encode_look_up(path, request_), detail::message_kind::file);
    answer.found = detail::decode_file(answer.message);
    auto const missing = answer.found.missing;
    if (answer.found.kind == file_kind::missing && missing != 0 && missing < path.size())
      missing_.insert(path.substr(0, missing));
  }

  detail::request_identity const request_;
  std::mutex mutex_;
  std::map<std::string, file> files_;
  std::set<std::string, std::less<>> missing_;  ///< folders
};

known_files* compile_files = nullptr;

/// The answer for `path`; null, with errno, if there is nothing.
known_files::file const* find(char const* path)
{
  if (path == nullptr) errno = EFAULT;
  if (path == nullptr) return nullptr;
  auto const& file = compile_files->find(path);
  if (file.found.kind != file_kind::missing) return &file;
  errno = ENOENT;
  return nullptr;
}

template <typename Status>
int state(char const* path, Status* status)
{
  auto const* const file = find(path);
  if (file == nullptr) return -1;
  *status = {};
  status->st_dev = file->found.device;
  status->st_ino = file->found.inode;
  status->st_nlink = 1;
  status->st_mode = file->found.kind == file_kind::folder ? S_IFDIR | 0555 : S_IFREG | 0444;
  status->st_size = static_cast<off_t>(file->found.text.size());
  return 0;
}

std::FILE* open_text(char const* path, char const* mode)
{
  auto const* const file = find(path);
  if (file == nullptr) return nullptr;
  if (*mode != 'r' || file->found.kind != file_kind::regular) errno = EACCES;
  if (*mode != 'r' || file->found.kind != file_kind::regular) return nullptr;
  auto const text = file->found.text.empty() ? std::string_view("\n") : file->found.text;
  return ::fmemopen(const_cast<char*>(text.data()), text.size(), "r");  // is only read
}

using open_function = std::FILE* (*)(char const*, char const*);

open_function function_of_library(char const* name)
{
  return reinterpret_cast<open_function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

file_calls::file_calls(detail::request_identity const& request)
{
  compile_files = new known_files(request);
}

file_calls::~file_calls()
{
  delete compile_files;
  compile_files = nullptr;
}

}  // namespace fatlink

// What NVRTC calls. Programs that were linked with a C library before 2.33 call __xstat.
extern "C" {

int stat(char const* path, struct stat* status) noexcept
{
  using namespace fatlink;
  return compile_files == nullptr ? ::fstatat(AT_FDCWD, path, status, 0) : state(path, status);
}

int stat64(char const* path, struct stat64* status) noexcept
{
  using namespace fatlink;
  return compile_files == nullptr ? ::fstatat64(AT_FDCWD, path, status, 0) : state(path, status);
}

int __xstat(int /*version*/, char const* path, struct stat* status) noexcept
{
  return ::stat(path, status);
}

int __xstat64(int /*version*/, char const* path, struct stat64* status) noexcept
{
  return ::stat64(path, status);
}

std::FILE* fopen(char const* path, char const* mode)
{
  using namespace fatlink;
  static auto const open = function_of_library("fopen");
  return compile_files == nullptr ? open(path, mode) : open_text(path, mode);
}

std::FILE* fopen64(char const* path, char const* mode)
{
  using namespace fatlink;
  static auto const open = function_of_library("fopen64");
  return compile_files == nullptr ? open(path, mode) : open_text(path, mode);
}

}  // extern "C"
