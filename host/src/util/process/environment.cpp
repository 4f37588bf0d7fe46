// SPDX-License-Identifier: Apache-2.0
#include "util/process/environment.hpp"

#include <algorithm>
#include <cstdlib>

namespace fatlink::detail {

std::string environment(char const* name)
{
  auto const* const text = ::secure_getenv(name);
  return text == nullptr ? "" : text;
}

std::vector<std::filesystem::path> folders_in(char const* name)
{
  std::vector<std::filesystem::path> folders;
  auto const text = environment(name);
  for (std::size_t start = 0; start < text.size();) {
    auto const end = std::min(text.find(':', start), text.size());
    if (end > start) folders.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return folders;
}

std::filesystem::path xdg_folder(char const* variable, std::filesystem::path const& in_home)
{
  // The specification ignores relative folders.
  if (std::filesystem::path named = environment(variable); named.is_absolute()) return named;
  if (std::filesystem::path const home = environment("HOME"); home.is_absolute())
    return home / in_home;
  return {};
}

}  // namespace fatlink::detail
