// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "fatlink/cache.hpp"
#include "fatlink/catalogue.hpp"
#include "util/files/installed_files.hpp"
#include "util/process/environment.hpp"
#include "util/text/format.hpp"
#include "util/text/number.hpp"
#include "util/text/printable.hpp"

namespace fatlink {
namespace {

std::filesystem::path default_folder()
{
  if (auto named = detail::environment("FATLINK_CACHE_DIR"); !named.empty()) {
    std::error_code failed;
    auto const found = std::filesystem::absolute(named, failed);
    return failed ? std::filesystem::path() : found;
  }
  auto const cache = detail::xdg_folder("XDG_CACHE_HOME", ".cache");
  return cache.empty() ? cache : cache / "fatlink";
}

/// Sets `settings` by $FATLINK_CACHE_LIMIT; what is no limit is a warning.
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

/// `cache` in each folder that names are searched in, the installed ones included.
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
  cache_settings found;
  found.folder = default_folder();
  std::error_code ignored;
  if (::secure_getenv("FATLINK_SYSTEM_CACHE") != nullptr)
    found.layers = detail::folders_in("FATLINK_SYSTEM_CACHE");
  else
    std::copy_if(layers.begin(), layers.end(), std::back_inserter(found.layers),
                 [&](auto const& layer) { return std::filesystem::is_directory(layer, ignored); });
  read_limit(found);
  return found;
}

}  // namespace fatlink
