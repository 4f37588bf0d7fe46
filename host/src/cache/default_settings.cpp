// SPDX-License-Identifier: Apache-2.0
// default_cache_settings of fatlink/cache.hpp.
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "fatlink/cache.hpp"
#include "fatlink/search_path.hpp"
#include "util/files/installed_files.hpp"
#include "util/process/environment.hpp"
#include "util/text/format.hpp"
#include "util/text/number.hpp"
#include "util/text/printable.hpp"

namespace fatlink {
namespace {

constexpr char const* k_no_folder =
    "cache problem (links still succeed): there is no folder: set HOME or FATLINK_CACHE_DIR";

std::filesystem::path default_folder()
{
  if (auto const named = detail::environment("FATLINK_CACHE_DIR"); !named.empty()) {
    std::error_code error;
    auto folder = std::filesystem::absolute(named, error);
    return error ? std::filesystem::path() : folder;
  }
  auto const caches = detail::xdg_folder("XDG_CACHE_HOME", ".cache");
  return caches.empty() ? caches : caches / "fatlink";
}

/// Sets the limit from $FATLINK_CACHE_LIMIT; adds a warning if that is not a limit.
void read_limit(cache_settings& settings)
{
  auto const text = detail::environment("FATLINK_CACHE_LIMIT");
  if (text.empty()) return;
  if (auto const limit = detail::read_count(text); limit && *limit > 0)
    settings.folder_limit = *limit;
  else
    settings.warnings.push_back(detail::format(
        "FATLINK_CACHE_LIMIT: '{}' is not a whole number of bytes above 0; the limit "
        "is {} bytes; write it as 512Mi, 1.5G or 1e9",
        detail::printable(text), settings.folder_limit));
}

/// The folders named `cache` in the search path and in the installed data folders.
std::vector<std::filesystem::path> installed_layers()
{
  std::vector<std::filesystem::path> layers;
  auto const add = [&](std::filesystem::path const& folder) {
    if (std::find(layers.begin(), layers.end(), folder / "cache") == layers.end())
      layers.push_back(folder / "cache");
  };
  for (auto const& folder : default_search_path(installed_data_folder())) add(folder.path);
  for (auto const& folder : detail::data_folders()) add(folder);
  return layers;
}

}  // namespace

cache_settings default_cache_settings()
{
  return default_cache_settings(installed_layers());
}

cache_settings default_cache_settings(std::vector<std::filesystem::path> const& layers)
{
  cache_settings settings;
  settings.folder = default_folder();
  if (settings.folder.empty()) settings.warnings.emplace_back(k_no_folder);
  std::error_code ignored;
  if (::secure_getenv("FATLINK_SYSTEM_CACHE") != nullptr)
    settings.layers = detail::folders_in("FATLINK_SYSTEM_CACHE");
  else
    std::copy_if(layers.begin(), layers.end(), std::back_inserter(settings.layers),
                 [&](auto const& layer) { return std::filesystem::is_directory(layer, ignored); });
  read_limit(settings);
  return settings;
}

}  // namespace fatlink
