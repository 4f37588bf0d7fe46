// SPDX-License-Identifier: Apache-2.0
#include "compiler/installed_contract.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "fatbin/ident.hpp"
#include "fatbin/json_file.hpp"
#include "fatlink/error.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/search_path.hpp"
#include "preflight/contracts.hpp"
#include "preflight/symbols.hpp"
#include "util/files/read_file.hpp"
#include "util/process/environment.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_most_header = std::uint64_t{1} << 20;
constexpr int k_format = 1;

/// The folder `name` of each folder of the search path.
std::vector<fs::path> folders_named(char const* name)
{
  std::vector<fs::path> folders;
  for (auto const& folder : default_search_path()) folders.push_back(folder.path / name);
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

[[noreturn]] void fail_contract(fs::path const& file, std::string const& cause)
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
    fail_contract(file, detail::format("its header '{}' is not below its folder", header));
  return file.parent_path() / path;
}

installed_contract parse(fs::path const& file, nlohmann::json const& json)
try {
  installed_contract contract{.name = json.at("contract").get<std::string>(),
                              .version = json.at("version").get<int>(),
                              .hooks = json.at("hooks").get<std::vector<std::string>>(),
                              .includes = json.value("includes", std::map<std::string, int>{}),
                              .package = json.value("package", std::string{})};
  if (json.at("fatlink_contract").get<int>() != k_format)
    fail_contract(file, "is of a newer fatlink");
  if (contract.version < 1 || contract.hooks.empty())
    fail_contract(file, "states no version or no hook");
  auto const header = header_of(file, json.at("header").get<std::string>());
  contract.header_name = header.filename().string();
  contract.header_path = header.string();
  contract.folder = file.parent_path().string();
  contract.header_below = header.lexically_relative(file.parent_path()).string();
  auto const text = read_file(header, k_most_header, "install the contract's package again");
  contract.header_text.assign(reinterpret_cast<char const*>(text.data()), text.size());
  return contract;
} catch (nlohmann::json::exception const& failure) {
  fail_contract(file, detail::format("is not a contract: {}", failure.what()));
}

/// An installed library, and the ident that states its contract.
struct contracted_library {
  std::string name = {};
  ident stated = {};
};

/// Those that can be read, in the order of the search path. Reads every file: for errors.
std::vector<contracted_library> contracted_libraries()
{
  std::vector<contracted_library> libraries;
  for (auto const& folder : default_search_path())
    for (auto const& file : list_folder(folder.path)) try {
        if (file.extension() != ".fatbin") continue;
        auto const contents = fatbin::read(file);
        if (!states_contract(contents.ident()) || interface_of_any(contents).kernels.empty())
          continue;
        libraries.push_back({.name = file.stem().string(), .stated = *contents.ident()});
      } catch (error const&) {
        continue;
      }
  return libraries;
}

/// "reduce_2" before "reduce_16".
struct shorter_first {
  bool operator()(std::string const& a, std::string const& b) const
  {
    return std::pair(a.size(), std::string_view(a)) < std::pair(b.size(), std::string_view(b));
  }
};
using short_names = std::set<std::string, shorter_first>;

/// `names` in their order; of many the first.
std::string list_shortly(short_names const& names)
{
  constexpr std::size_t k_most_names = 8;
  std::string list;
  std::size_t count = 0;
  for (auto const& name : names) {
    if (count++ == k_most_names) return list + ", …";
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

/// The contract to ask for where `name` is that of an installed library, or of a library or a
/// contract without the size of the elements. Empty where it is neither.
std::string contract_for(std::string const& name)
{
  auto const is_base = [&](std::string const& other) {
    auto const sized = split_size(other);
    return sized && sized->base == name;
  };
  short_names contracts;
  for (auto const& contract : list_contracts())
    if (is_base(contract)) contracts.insert(contract);
  if (!contracts.empty())
    return detail::format("state the size of the elements: {}", list_shortly(contracts));
  short_names libraries;
  for (auto const& library : contracted_libraries())
    if (library.name == name || is_base(library.name)) {
      libraries.insert(library.name);
      contracts.insert(library.stated.contract);
    }
  if (contracts.empty()) return {};
  return detail::format(
      "{} {}: name {}{}", list_shortly(libraries),
      libraries.size() == 1 ? "is a library, not a contract" : "are libraries, not contracts",
      contracts.size() == 1 ? "its contract, " : "one of their contracts: ",
      list_shortly(contracts));
}

std::string missing_hint(std::string const& name)
{
  if (auto hint = contract_for(name); !hint.empty()) return hint;
  if (auto const similar = nearest(list_contracts(), name); !similar.empty())
    return detail::format("did you mean {}?", similar);
  return "install the package of its library, or include its header with --header";
}

[[noreturn]] void refuse_missing(std::string const& name)
{
  std::string folders;
  for (auto const& folder : contract_folders()) folders += folder.string() + "\n";
  throw file_error(stage::compiler,
                   {.message = detail::format("the contract {} is not installed", name),
                    .input = name,
                    .code = error_code::not_installed,
                    .log = folders,
                    .hint = missing_hint(name)});
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
std::string first_statement(std::string_view text)
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
  auto const spelling = demangle(hook);  // of a C++ function; else empty
  auto const begin = (spelling.empty() ? hook : spelling.substr(0, spelling.find('('))) + "(";
  std::size_t start = 0;
  while (start < header_text.size()) {
    auto const end = std::min(header_text.find('\n', start), header_text.size());
    auto const line = std::string_view(header_text).substr(start, end - start);
    auto const first = line.find_first_not_of(" \t");
    auto const is_comment =
        first != std::string_view::npos && (line[first] == '/' || line[first] == '*');
    if (!is_comment && line.find(begin) != std::string_view::npos)
      return first_statement(std::string_view(header_text).substr(start + first));
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
      fail_contract(file, detail::format("states the contract {}", contract.name));
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

namespace {

/// A macro, and the contracts that declare the hook it defines: "keep_N" for keep_1 to keep_32.
struct hook_macro {
  std::string_view name;
  std::string_view parameters;
  std::string_view hook;
  std::array<std::string_view, 5> contracts;
  std::string_view other_hook = {};  ///< that it defines as well
};

constexpr std::array<std::string_view, 5> k_load_contracts{
    "load_N", "load_combine_N", "load_keep_N", "load_bin_N", "load_by_key_N"};

constexpr std::array k_hook_macros{
    hook_macro{"FATLINK_COMBINE",
               "type, a, b",
               "combine",
               {"combine_N", "load_combine_N", "by_key_N", "load_by_key_N"}},
    hook_macro{"FATLINK_SAME_KEY",
               "type, a, b",
               "same_key",
               {"same_key", "by_key_N", "load_by_key_N"},
               "copy_key"},
    hook_macro{"FATLINK_LOAD", "type, from, x", "load", k_load_contracts},
    hook_macro{"FATLINK_LOAD_AT", "type, from, in, index", "load", k_load_contracts},
    hook_macro{"FATLINK_KEEP", "type, x", "keep", {"keep_N", "keep_store_N", "load_keep_N"}},
    hook_macro{"FATLINK_STORE", "to, type, x", "store", {"keep_store_N"}},
    hook_macro{"FATLINK_LESS", "type, a, b", "less", {"less_N"}},
    hook_macro{"FATLINK_KEY", "type, x", "key", {"key_N"}},
    hook_macro{"FATLINK_EQUAL", "type, a, b", "equal", {"equal_N"}},
    hook_macro{"FATLINK_PART", "type, x", "part", {"part_N"}},
    hook_macro{"FATLINK_BIN", "type, x", "bin", {"bin_N", "load_bin_N"}},
    hook_macro{"FATLINK_MAP1", "to, from, x", "map_element", {"map1"}},
    hook_macro{"FATLINK_MAP2", "to, from1, a, from2, b", "map_element", {"map2"}},
    hook_macro{"FATLINK_MAP3", "to, from1, a, from2, b, from3, c", "map_element", {"map3"}},
};

constexpr std::string_view k_macro_prefix = "FATLINK_";

bool is_macro_letter(char c)
{
  return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The first word of `log` that begins as the macros do; empty where there is none.
std::string_view first_macro(std::string_view log)
{
  for (auto place = log.find(k_macro_prefix); place != log.npos;
       place = log.find(k_macro_prefix, place + 1)) {
    auto const rest = log.substr(place);
    auto const end = std::ranges::find_if_not(rest, is_macro_letter);
    auto const word = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    auto const is_own = word.starts_with("FATLINK_ELEMENT") || word.starts_with("FATLINK_DETAIL") ||
                        word.starts_with("FATLINK_CONTRACT");
    if (!is_own && (place == 0 || !is_macro_letter(log[place - 1]))) return word;
  }
  return {};
}

std::string macro_text(hook_macro const& macro)
{
  return detail::format("{}({}) {{ … }}", macro.name, macro.parameters);
}

/// "combine_N" for combine_4, "map1" for map1.
std::string pattern_of(std::string const& contract)
{
  auto const sized = split_size(contract);
  return sized ? detail::format("{}_N", sized->base) : contract;
}

bool declares(installed_contract const& contract, hook_macro const& macro)
{
  auto const is_known = std::ranges::any_of(k_hook_macros, [&](hook_macro const& other) {
    return std::ranges::find(other.contracts, pattern_of(contract.name)) != other.contracts.end();
  });
  if (is_known)
    return std::ranges::find(macro.contracts, pattern_of(contract.name)) != macro.contracts.end();
  return std::ranges::find(contract.hooks, macro.hook) != contract.hooks.end();
}

/// "combine_4, load_combine_4 and by_key_4": of the size of `contract`, where it has one.
std::string contracts_of(hook_macro const& macro, installed_contract const* contract)
{
  auto const sized = contract == nullptr ? std::nullopt : split_size(contract->name);
  std::vector<std::string> names;
  for (auto const contract_name : macro.contracts) {
    if (contract_name.empty()) continue;
    auto& name = names.emplace_back(contract_name);
    if (sized && name.ends_with("_N")) name.replace(name.size() - 1, 1, sized->bytes);
  }
  auto const last = std::move(names.back());
  names.pop_back();
  return names.empty() ? last : detail::format("{} and {}", fmt::join(names, ", "), last);
}

/// The size in bytes of a type of C++ or CUDA, whose name alone tells it; empty for others.
std::string_view size_of_type(std::string_view type)
{
  struct sized_types {
    std::string_view bytes;
    std::string_view names;  ///< each between blanks
  };
  static constexpr std::array k_sizes{
      sized_types{"1", " bool char int8_t uint8_t std::int8_t std::uint8_t "},
      sized_types{"2",
                  " short int16_t uint16_t std::int16_t std::uint16_t __half half __nv_bfloat16 "},
      sized_types{"4",
                  " int unsigned float int32_t uint32_t std::int32_t std::uint32_t __half2 half2 "},
      sized_types{"8", " double int64_t uint64_t std::int64_t std::uint64_t float2 int2 uint2 "},
      sized_types{"16", " float4 int4 uint4 double2 "}};
  if (type.empty() || type.find(' ') != type.npos) return {};
  for (auto const& each : k_sizes)
    if (each.names.find(detail::format(" {} ", type)) != each.names.npos) return each.bytes;
  return {};
}

/// The type of the elements in the parameters "float, a, b)" of `macro`: that named "type" there.
std::string_view element_type_of(hook_macro const& macro, std::string_view arguments)
{
  arguments = arguments.substr(0, arguments.find(')'));
  if (macro.parameters.starts_with("to, type"))
    arguments = arguments.substr(std::min(arguments.find(',') + 1, arguments.size()));
  return trim(arguments.substr(0, arguments.find(',')));
}

/// The macros of hooks that `source` uses at the start of a line, each with the size of its type.
std::vector<std::pair<hook_macro const*, std::string_view>> macros_of(std::string_view source)
{
  std::vector<std::pair<hook_macro const*, std::string_view>> used;
  for (auto const& macro : k_hook_macros)
    for (auto place = source.find(macro.name); place != source.npos;
         place = source.find(macro.name, place + 1)) {
      auto const rest = trim(source.substr(place + macro.name.size()));
      auto const is_first = place == 0 || source[place - 1] == '\n';
      if (is_first && rest.starts_with('('))
        used.emplace_back(&macro, size_of_type(element_type_of(macro, rest.substr(1))));
    }
  return used;
}

std::string unknown_macro_hint(std::string_view word)
{
  std::vector<std::string> names;  // without the prefix, which makes all words similar
  for (auto const& macro : k_hook_macros)
    names.emplace_back(macro.name.substr(k_macro_prefix.size()));
  auto const similar = nearest(names, word.substr(k_macro_prefix.size()));
  auto const place =
      std::ranges::find(k_hook_macros, std::string(k_macro_prefix) + similar, &hook_macro::name);
  if (place == k_hook_macros.end()) return {};
  return detail::format("unknown macro {}; did you mean {}?", word, macro_text(*place));
}

/// From "pair has 8 bytes: use the contract combine_8".
std::string size_hint_of(std::string_view log)
{
  constexpr std::string_view k_mark = "use the contract ";
  auto const place = log.find(k_mark);
  if (place == log.npos) return {};
  auto const rest = log.substr(place + k_mark.size());
  auto const contract = rest.substr(0, rest.find_first_of("\"\n"));
  auto const sized = split_size(contract);
  if (!sized) return {};
  return detail::format(
      "pass a library for elements of {} bytes, which has the contract {}; without a library state "
      "that contract (<compile_options::contract>)",
      sized->bytes, contract);
}

}  // namespace

std::string contract_of_macros(std::string_view source)
{
  auto const used = macros_of(source);
  if (used.empty() || source.find("typed_hooks.cuh") != source.npos) return {};
  for (auto const family : used.front().first->contracts) {
    auto const& bytes = used.front().second;
    auto const is_of_family = [&](auto const& use) {
      return std::ranges::find(use.first->contracts, family) != use.first->contracts.end() &&
             use.second == bytes;
    };
    std::string name(family);
    auto const is_sized = name.ends_with("_N");
    if (family.empty() || (is_sized && bytes.empty()) || !std::ranges::all_of(used, is_of_family))
      continue;
    if (is_sized) name.replace(name.size() - 1, 1, bytes);
    auto const installed = list_contracts();
    return std::ranges::find(installed, name) == installed.end() ? std::string() : name;
  }
  return {};
}

std::string macro_hint(std::string_view log, installed_contract const* contract)
{
  if (auto hint = size_hint_of(log); !hint.empty()) return hint;
  auto const word = first_macro(log);
  if (word.empty()) return {};
  auto const macro = std::ranges::find(k_hook_macros, word, &hook_macro::name);
  if (macro == k_hook_macros.end()) return unknown_macro_hint(word);
  if (contract != nullptr && declares(*contract, *macro)) return {};
  return detail::format(
      "{} defines {}, a hook of {}{}: pass a library with {}, or state the contract "
      "(<compile_options::contract>)",
      macro->name, macro->hook, contracts_of(*macro, contract),
      contract == nullptr
          ? std::string{}
          : detail::format(", and the source is compiled for {}", contract->title()),
      macro->contracts[1].empty() ? "it" : "one of them");
}

std::map<std::string, std::vector<std::string>> contracts_by_hook()
{
  std::map<std::string, std::vector<std::string>> contracts;
  for (auto const& name : list_contracts()) try {
      for (auto const& hook : find_contract(name).hooks) contracts[hook].push_back(name);
    } catch (error const&) {  // it is damaged
      continue;
    }
  return contracts;
}

namespace {

/// ": reduce_4, scan_4": libraries that call `function`; those for elements of the size of
/// `contract`, or where that has none, of any size. Empty where none is installed.
std::string libraries_with(std::string const& function, installed_contract const& contract)
{
  auto const size = split_size(contract.name);
  short_names names;
  for (auto const& [library, stated] : contracted_libraries()) {
    if (!stated.hooks.contains(function)) continue;
    auto const own = split_size(stated.contract);
    if (size && own && own->bytes != size->bytes) continue;
    names.insert(size ? library : pattern_of(library));
  }
  return names.empty() ? "" : ": " + list_shortly(names);
}

/// "keep_4 and keep_store_4": the contracts that declare `function`, and their number. Of contracts
/// that no macro is for, all that are installed.
std::pair<std::string, std::size_t> contracts_that_declare(std::string const& function,
                                                           installed_contract const& contract)
{
  auto const macro = std::ranges::find(k_hook_macros, function, &hook_macro::hook);
  if (macro != k_hook_macros.end())
    return {contracts_of(*macro, &contract), macro->contracts[1].empty() ? 1 : 2};
  auto const contracts = contracts_by_hook();
  auto const known = contracts.find(function);
  if (known == contracts.end()) return {};
  return {detail::format("{}", fmt::join(known->second, " and ")), known->second.size()};
}

}  // namespace

std::string other_contract_hint(std::string const& function, installed_contract const& contract)
{
  auto const macro = std::ranges::find(k_hook_macros, function, &hook_macro::hook);
  if (std::ranges::find(contract.hooks, function) != contract.hooks.end()) return {};
  if (macro != k_hook_macros.end() && declares(contract, *macro)) return {};
  auto const [contracts, count] = contracts_that_declare(function, contract);
  if (count == 0) return {};
  return detail::format("{} is a hook of {}: pass a library with {}{}", function, contracts,
                        count == 1 ? "it" : "one of them", libraries_with(function, contract));
}

std::string macro_of(std::string_view hook, installed_contract const& contract)
{
  for (auto const& macro : k_hook_macros)
    if ((macro.hook == hook || macro.other_hook == hook) && declares(contract, macro))
      return macro_text(macro);
  return {};
}

}  // namespace fatlink::detail
