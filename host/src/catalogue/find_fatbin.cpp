// SPDX-License-Identifier: Apache-2.0
// Looks up a fatbin by name in a search path.

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "fatlink/catalogue.hpp"
#include "fatlink/error.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/input.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink {
namespace {

constexpr std::string_view k_ending = ".fatbin";
/// Of files of the other input forms; source and LLVM IR too, so that the error says what they are.
constexpr std::array<std::string_view, 9> k_endings{".ptx", ".ltoir", ".cubin", ".o", ".a",
                                                    ".so",  ".cu",    ".ll",    ".bc"};

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
  auto const suggestion = detail::nearest(names_in(path), name);
  return detail::format(
      "{}pass the name of an installed fatbin, or a path with a slash or one of the endings "
      ".fatbin, {}",
      suggestion.empty() ? "" : detail::format("did you mean {}? ", suggestion),
      fmt::join(k_endings, ", "));
}

}  // namespace

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

bool is_input_name(std::string_view text) noexcept
{
  auto const has_ending = [&](std::string_view ending) { return text.ends_with(ending); };
  return is_fatbin_name(text) && std::none_of(k_endings.begin(), k_endings.end(), has_ending);
}

input input::find(std::string const& name_or_file)
{
  if (!is_input_name(name_or_file)) return read(name_or_file);
  return read(find_fatbin(name_or_file, default_search_path(installed_data_folder())));
}

}  // namespace fatlink
