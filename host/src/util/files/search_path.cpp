// SPDX-License-Identifier: Apache-2.0
#include "fatlink/search_path.hpp"

#include <algorithm>
#include <string>
#include <system_error>

#include "util/process/environment.hpp"

namespace fatlink {
namespace {

bool is_folder(std::filesystem::path const& path)
{
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

}  // namespace

char const* to_string(folder_origin origin) noexcept
{
  switch (origin) {
    case folder_origin::environment:
      return "environment";
    case folder_origin::user:
      return "user";
    case folder_origin::program:
      return "program";
    case folder_origin::system:
      return "system";
  }
  return "unknown";
}

std::filesystem::path installed_data_folder()
{
  auto const folders = detail::data_folders();
  if (folders.empty()) return {};
  auto const folder = std::find_if(folders.begin(), folders.end(), is_folder);
  return folder == folders.end() ? folders.front() : *folder;
}

std::vector<search_folder> default_search_path()
{
  std::vector<search_folder> path;
  auto const add = [&](std::filesystem::path const& named, folder_origin origin) {
    // "/a/./b/" is "/a/b"; a symbolic link to a folder is that folder.
    auto folder = (named / "").lexically_normal().parent_path();
    auto const is_listed = [&](search_folder const& entry) {
      std::error_code absent;
      return entry.path == folder || std::filesystem::equivalent(entry.path, folder, absent);
    };
    if (!named.empty() && std::none_of(path.begin(), path.end(), is_listed))
      path.push_back({folder, origin});
  };
  for (auto const& folder : detail::folders_in("FATLINK_PATH"))
    add(folder, folder_origin::environment);
  if (auto const data = detail::xdg_folder("XDG_DATA_HOME", ".local/share"); !data.empty())
    add(data / "fatlink", folder_origin::user);
  auto system = detail::folders_in("XDG_DATA_DIRS");
  std::erase_if(system, [](std::filesystem::path const& folder) { return folder.is_relative(); });
  if (system.empty()) system = {"/usr/local/share", "/usr/share"};
  for (auto& folder : system) folder /= "fatlink";
  add(installed_data_folder(), folder_origin::program);
  for (auto const& folder : detail::data_folders())  // the system's keep their own order
    if (is_folder(folder) && std::ranges::find(system, folder) == system.end())
      add(folder, folder_origin::program);
  for (auto const& folder : system) add(folder, folder_origin::system);
  return path;
}

}  // namespace fatlink
