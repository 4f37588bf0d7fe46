// SPDX-License-Identifier: Apache-2.0
// Looks up a fatbin by name in a search path.

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include "fatlink/catalogue.hpp"
#include "fatlink/error.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/input.hpp"
#include "preflight/contracts.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"
#include "util/text/number.hpp"

namespace fatlink {
namespace {

constexpr std::string_view k_ending = ".fatbin";
/// Of files of the other input forms; source and LLVM IR too, so that the error says what they are.
constexpr std::array<std::string_view, 9> k_endings{".ptx", ".ltoir", ".cubin", ".o", ".a",
                                                    ".so",  ".cu",    ".ll",    ".bc"};

std::vector<std::string> names_in(std::vector<search_folder> const& path)
{
  std::vector<std::string> names;
  for (auto const& folder : path)
    for (auto const& file : detail::list_folder(folder.path))
      if (file.extension() == k_ending) names.push_back(file.stem().string());
  return names;
}

std::string listing(std::vector<search_folder> const& path)
{
  std::string text;
  for (auto const& folder : path)
    text += detail::format("{} ({})\n", folder.path.string(), describe_origin(folder));
  return text;
}

/// Of a name without the size of the elements: "did you mean reduce_N, …? "; else the most similar
/// name. Empty where there is none.
std::string suggest(std::vector<std::string> const& names, std::string const& name)
{
  std::set<std::uint64_t> sizes;
  for (auto const& known : names)
    if (auto const sized = detail::split_size(known); sized && sized->base == name)
      if (auto const bytes = detail::read_count(sized->bytes)) sizes.insert(*bytes);
  if (!sizes.empty())
    return detail::format("did you mean {}_N, for elements of N bytes (N is one of {})? ", name,
                          fmt::join(sizes, ", "));
  auto const similar = detail::nearest(names, name);
  return similar.empty() ? "" : detail::format("did you mean {}? ", similar);
}

std::string hint_for(std::string const& name, std::vector<search_folder> const& path)
{
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored))
    return detail::format("for the file, write ./{}", name);
  return detail::format(
      "{}pass the name of an installed fatbin, or a path with a slash or one of the endings "
      ".fatbin, {}",
      suggest(names_in(path), name), fmt::join(k_endings, ", "));
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
  return read(find_fatbin(name_or_file, default_search_path()));
}

bool is_input_name(std::string_view text) noexcept
{
  auto const has_ending = [&](std::string_view ending) { return text.ends_with(ending); };
  return is_fatbin_name(text) && std::none_of(k_endings.begin(), k_endings.end(), has_ending);
}

input input::find(std::string const& name_or_file)
{
  if (!is_input_name(name_or_file)) return read(name_or_file);
  return read(find_fatbin(name_or_file, default_search_path()));
}

}  // namespace fatlink
