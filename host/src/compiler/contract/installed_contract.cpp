// SPDX-License-Identifier: Apache-2.0
#include "compiler/contract/installed_contract.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "fatbin/json_file.hpp"
#include "fatlink/error.hpp"
#include "fatlink/search_path.hpp"
#include "util/files/installed_files.hpp"
#include "util/files/path_lookup.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_most_header = std::uint64_t{1} << 20;
constexpr int k_format = 1;

/// The folder `name` of each folder of the search path and of installed data.
std::vector<fs::path> folders_named(char const* name)
{
  std::vector<fs::path> folders;
  auto const add = [&](fs::path const& folder) {
    if (std::find(folders.begin(), folders.end(), folder / name) == folders.end())
      folders.push_back(folder / name);
  };
  for (auto const& folder : default_search_path(installed_data_folder())) add(folder.path);
  for (auto const& folder : data_folders()) add(folder);
  return folders;
}

std::vector<fs::path> contract_folders()
{
  return folders_named("contracts");
}

/// Whether `name` is a name, not a path: it may come from the ident of a fatbin.
bool is_contract_name(std::string const& name)
{
  return !name.empty() && name.front() != '.' && std::ranges::all_of(name, [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::string_view("_.-").find(letter) != std::string_view::npos;
  });
}

[[noreturn]] void refuse(fs::path const& file, std::string const& cause)
{
  throw file_error(stage::compiler,
                   {.message = detail::format("{}: {}", file.string(), cause),
                    .input = file.string(),
                    .code = error_code::invalid_contract,
                    .hint = "install the package of the library that has this contract again"});
}

/// The header, which lies below the folder of the .json.
fs::path header_of(fs::path const& file, std::string const& header)
{
  auto const path = fs::path(header).lexically_normal();
  if (path.empty() || path.is_absolute() || *path.begin() == "..")
    refuse(file, detail::format("its header '{}' is not below its folder", header));
  return file.parent_path() / path;
}

installed_contract parse(fs::path const& file, nlohmann::json const& json)
try {
  installed_contract contract{.name = json.at("contract").get<std::string>(),
                              .version = json.at("version").get<int>(),
                              .hooks = json.at("hooks").get<std::vector<std::string>>(),
                              .package = json.value("package", std::string{})};
  if (json.at("fatlink_contract").get<int>() != k_format) refuse(file, "is of a newer fatlink");
  if (contract.version < 1 || contract.hooks.empty()) refuse(file, "states no version or no hook");
  auto const header = header_of(file, json.at("header").get<std::string>());
  contract.header_name = header.filename().string();
  contract.header_path = header.string();
  contract.folder = file.parent_path().string();
  contract.header_below = header.lexically_relative(file.parent_path()).string();
  auto const text = read_file(header, k_most_header, "install the contract's package again");
  contract.header_text.assign(reinterpret_cast<char const*>(text.data()), text.size());
  return contract;
} catch (nlohmann::json::exception const& failure) {
  refuse(file, detail::format("is not a contract: {}", failure.what()));
}

[[noreturn]] void refuse_missing(std::string const& name)
{
  std::string folders;
  for (auto const& folder : contract_folders()) folders += folder.string() + "\n";
  auto const suggestion = nearest(list_contracts(), name);
  throw file_error(
      stage::compiler,
      {.message = detail::format("the contract {} is not installed", name),
       .input = name,
       .code = error_code::not_installed,
       .log = folders,
       .hint = suggestion.empty()
                   ? "install the package of its library, or include its header with --header"
                   : detail::format("did you mean {}?", suggestion)});
}

/// Whether `text` has `word` other than within a longer identifier.
bool has_word(std::string_view text, std::string_view word)
{
  auto const is_part = [&](std::size_t place) {
    return place < text.size() &&
           (text[place] == '_' || std::isalnum(static_cast<unsigned char>(text[place])) != 0);
  };
  for (auto place = text.find(word); place != std::string_view::npos;
       place = text.find(word, place + 1))
    if (!is_part(place - 1) && !is_part(place + word.size())) return true;
  return false;
}

/// `text` up to its ";", with one blank for each run of white space.
std::string one_line(std::string_view text)
{
  constexpr std::size_t k_longest = 1000;
  text = text.substr(0, std::min(text.find(';'), k_longest) + 1);
  std::string line;
  for (auto const letter : text)
    if (std::isspace(static_cast<unsigned char>(letter)) == 0)
      line += letter;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  return line;
}

}  // namespace

std::string installed_contract::title() const
{
  return detail::format("{}/{}", name, version);
}

std::string installed_contract::declaration_of(std::string const& hook) const
{
  std::size_t start = 0;
  while (start < header_text.size()) {
    auto const end = std::min(header_text.find('\n', start), header_text.size());
    auto const line = std::string_view(header_text).substr(start, end - start);
    auto const first = line.find_first_not_of(" \t");
    auto const is_comment =
        first != std::string_view::npos && (line[first] == '/' || line[first] == '*');
    if (!is_comment && line.find(hook + "(") != std::string_view::npos)
      return one_line(std::string_view(header_text).substr(start + first));
    start = end + 1;
  }
  return {};
}

std::string installed_contract::declaration_hint(std::string const& hook) const
{
  auto const declaration = declaration_of(hook);
  if (declaration.empty())
    return detail::format("the contract {} declares {} in {}", title(), hook, header_path);
  return detail::format("the contract {} declares: {}", title(), declaration);
}

installed_contract find_contract(std::string const& name)
{
  if (!is_contract_name(name)) refuse_missing(name);
  for (auto const& folder : contract_folders()) {
    auto const file = folder / (name + ".json");
    std::error_code ignored;
    if (!fs::exists(file, ignored)) continue;
    auto contract = parse(file, json_file::read(file)->json());
    if (contract.name != name)
      refuse(file, detail::format("states the contract {}", contract.name));
    return contract;
  }
  refuse_missing(name);
}

std::vector<fs::path> data_include_folders()
{
  auto folders = folders_named("include");
  std::error_code ignored;
  std::erase_if(folders,
                [&](fs::path const& folder) { return !fs::is_directory(folder, ignored); });
  return folders;
}

std::vector<std::string> list_contracts()
{
  std::set<std::string> names;
  for (auto const& folder : contract_folders())
    for (auto const& entry : list_folder(folder))
      if (entry.extension() == ".json") names.insert(entry.stem().string());
  return {names.begin(), names.end()};
}

std::vector<std::string> contracts_with(std::string_view word)
{
  std::vector<std::string> names;
  for (auto const& name : list_contracts()) try {
      if (has_word(find_contract(name).header_text, word)) names.push_back(name);
    } catch (error const&) {
      continue;
    }
  return names;
}

}  // namespace fatlink::detail
