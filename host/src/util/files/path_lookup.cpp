// SPDX-License-Identifier: Apache-2.0
#include "util/files/path_lookup.hpp"

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <new>
#include <string_view>

namespace fatlink::detail {

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
