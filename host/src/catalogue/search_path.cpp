// SPDX-License-Identifier: Apache-2.0
// Where names are looked up, and the lookup.

#include <algorithm>

#include "fatlink/catalogue.hpp"
#include "fatlink/error.hpp"
#include "fatlink/fatbin.hpp"
#include "util/files/installed_files.hpp"
#include "util/process/environment.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink {
namespace {

constexpr std::string_view k_ending = ".fatbin";

std::vector<std::string> names_in(std::vector<search_folder> const& path)
{
  std::vector<std::string> names;
  std::error_code ignored;
  for (auto const& folder : path)
    for (auto const& file : std::filesystem::directory_iterator(folder.path, ignored))
      if (file.path().extension() == k_ending) names.push_back(file.path().stem().string());
  return names;
}

std::string listing(std::vector<search_folder> const& path)
{
  std::string text;
  for (auto const& folder : path)
    text += detail::format("{} ({})\n", folder.path.string(), to_string(folder.origin));
  return text;
}

std::string hint_for(std::string const& name, std::vector<search_folder> const& path)
{
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored))
    return detail::format("for the file, write ./{}", name);
  auto const like = detail::nearest(names_in(path), name);
  return detail::format(
      "{}fatlink list shows what is installed; a file is named with its .fatbin, or a slash",
      like.empty() ? "" : detail::format("did you mean {}? ", like));
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
  auto const exists = [](std::filesystem::path const& folder) {
    std::error_code ignored;
    return std::filesystem::is_directory(folder, ignored);
  };
  auto const first = std::find_if(folders.begin(), folders.end(), exists);
  return first == folders.end() ? folders.front() : *first;
}

std::vector<search_folder> default_search_path(std::filesystem::path const& beside)
{
  std::vector<search_folder> path;
  auto const add = [&](std::filesystem::path const& named, folder_origin origin) {
    // "/a/./b/" is "/a/b"; a symbolic link to a folder is that folder.
    auto folder = (named / "").lexically_normal().parent_path();
    auto const same = [&](search_folder const& other) {
      std::error_code absent;
      return other.path == folder || std::filesystem::equivalent(other.path, folder, absent);
    };
    if (!named.empty() && std::none_of(path.begin(), path.end(), same))
      path.push_back({folder, origin});
  };
  for (auto const& folder : detail::folders_in("FATLINK_PATH"))
    add(folder, folder_origin::environment);
  if (auto const data = detail::xdg_folder("XDG_DATA_HOME", ".local/share"); !data.empty())
    add(data / "fatlink", folder_origin::user);
  add(beside, folder_origin::program);
  auto system = detail::folders_in("XDG_DATA_DIRS");
  std::erase_if(system, [](std::filesystem::path const& folder) { return folder.is_relative(); });
  if (system.empty()) system = {"/usr/local/share", "/usr/share"};
  for (auto const& folder : system) add(folder / "fatlink", folder_origin::system);
  return path;
}

bool is_fatbin_name(std::string_view text) noexcept
{
  return !text.empty() && text.find('/') == std::string_view::npos && !text.ends_with(k_ending);
}

std::filesystem::path find_fatbin(std::string const& name, std::vector<search_folder> const& path)
{
  for (auto const& folder : path) {
    std::error_code ignored;
    auto file = folder.path / (name + std::string(k_ending));
    if (std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) return file;
  }
  throw file_error(stage::input,
                   {.message = detail::format("{}: no fatbin of that name is installed", name),
                    .input = name,
                    .code = error_code::not_installed,
                    .log = listing(path),
                    .hint = hint_for(name, path)});
}

fatbin fatbin::find(std::string const& name_or_file)
{
  if (!is_fatbin_name(name_or_file)) return read(name_or_file);
  return read(find_fatbin(name_or_file, default_search_path(installed_data_folder())));
}

}  // namespace fatlink
