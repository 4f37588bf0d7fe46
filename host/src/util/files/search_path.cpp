// SPDX-License-Identifier: Apache-2.0
#include "fatlink/search_path.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "util/process/environment.hpp"

namespace fatlink {
namespace {

bool is_folder(std::filesystem::path const& path)
{
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

struct python_path {
  std::mutex mutex = {};
  std::optional<std::string> folders = {};  ///< none: $FATLINK_PYTHON_PATH
};

python_path& process_python_path()
{
  static python_path path;
  return path;
}

std::string python_path_text()
{
  auto& path = process_python_path();
  std::lock_guard const lock(path.mutex);
  return path.folders ? *path.folders : detail::environment("FATLINK_PYTHON_PATH");
}

/// "mix 2.1=/folder" or "/folder"; set_python_path documents the format.
search_folder read_python_folder(std::string_view element)
{
  auto const end = element.starts_with('/') ? std::string_view::npos : element.find('=');
  auto const has_name = end != std::string_view::npos;
  return {.path = has_name ? element.substr(end + 1) : element,
          .origin = folder_origin::python,
          .distribution = std::string(has_name ? element.substr(0, end) : "")};
}

std::vector<search_folder> python_folders()
{
  std::vector<search_folder> folders;
  std::istringstream text(python_path_text());
  for (std::string element; std::getline(text, element, ':');)
    folders.push_back(read_python_folder(element));
  std::erase_if(folders, [](search_folder const& folder) { return folder.path.is_relative(); });
  return folders;
}

/// The folders `fatlink` that the system's data folders may hold.
std::vector<std::filesystem::path> system_folders()
{
  auto folders = detail::folders_in("XDG_DATA_DIRS");
  std::erase_if(folders, [](std::filesystem::path const& folder) { return folder.is_relative(); });
  if (folders.empty()) folders = {"/usr/local/share", "/usr/share"};
  for (auto& folder : folders) folder /= "fatlink";
  return folders;
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
    case folder_origin::python:
      return "python";
    case folder_origin::system:
      return "system";
  }
  return "unknown";
}

std::string describe_origin(search_folder const& folder)
{
  std::string const origin = to_string(folder.origin);
  return folder.distribution.empty() ? origin : origin + ": " + folder.distribution;
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
  auto const add = [&](std::filesystem::path const& named, folder_origin origin,
                       std::string const& distribution = {}) {
    // "/a/./b/" is "/a/b"; a symbolic link to a folder is that folder.
    auto folder = (named / "").lexically_normal().parent_path();
    auto const is_listed = [&](search_folder const& entry) {
      std::error_code absent;
      return entry.path == folder || std::filesystem::equivalent(entry.path, folder, absent);
    };
    if (!named.empty() && std::none_of(path.begin(), path.end(), is_listed))
      path.push_back({folder, origin, distribution});
  };
  for (auto const& folder : detail::folders_in("FATLINK_PATH"))
    add(folder, folder_origin::environment);
  if (auto const data = detail::xdg_folder("XDG_DATA_HOME", ".local/share"); !data.empty())
    add(data / "fatlink", folder_origin::user);
  auto const system = system_folders();
  add(installed_data_folder(), folder_origin::program);
  for (auto const& folder : detail::data_folders())  // the system's keep their own order
    if (is_folder(folder) && std::ranges::find(system, folder) == system.end())
      add(folder, folder_origin::program);
  for (auto const& folder : python_folders()) add(folder.path, folder.origin, folder.distribution);
  for (auto const& folder : system) add(folder, folder_origin::system);
  return path;
}

void set_python_path(std::string folders)
{
  auto& path = process_python_path();
  std::lock_guard const lock(path.mutex);
  path.folders = std::move(folders);
}

}  // namespace fatlink
