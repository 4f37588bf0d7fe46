// SPDX-License-Identifier: Apache-2.0
#include "fatbins/contracts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "catalogue/installed_library.hpp"
#include "compiler/installed_contract.hpp"
#include "error_report.hpp"
#include "fatlink/error.hpp"
#include "installed.hpp"
#include "preflight/contracts.hpp"

namespace fatlink::cli {
namespace {

using strings = std::vector<std::string>;
using installed_libraries = std::vector<installed_library>;

bool is_shorter(std::string const& a, std::string const& b)
{
  return std::pair(a.size(), a) < std::pair(b.size(), b);
}

/// A type of the size of the contract's elements, for examples; `key`: what is compared of it.
struct example_type {
  std::string definition = {};  ///< with a blank after it; empty: a type of C++
  std::string name = "float";
  std::string key = {};
};

example_type example_type_of(std::string const& contract)
{
  static std::map<std::string_view, example_type> const types{
      {"1", {"", "unsigned char", ""}},
      {"2", {"", "short", ""}},
      {"8", {"", "double", ""}},
      {"16", {"struct item { double key, value; }; ", "item", ".key"}},
      {"32", {"struct item { double key, x, y, z; }; ", "item", ".key"}},
  };
  auto const sized = detail::split_size(contract);
  auto const type = sized ? types.find(sized->bytes) : types.end();
  return type == types.end() ? example_type{} : type->second;
}

/// A line of CUDA C++ that fills the hook of a macro. Empty for another one.
std::string example_of_macro(std::string_view macro, example_type const& type)
{
  auto const& [definition, name, key] = type;
  auto const has_name = [&](std::string_view word) { return macro.starts_with(word); };
  if (has_name("FATLINK_COMBINE("))
    return fmt::format("{}FATLINK_COMBINE({}, a, b) {{ return a{} < b{} ? b : a; }}", definition,
                       name, key, key);
  if (has_name("FATLINK_LESS("))
    return fmt::format("{}FATLINK_LESS({}, a, b) {{ return a{} < b{}; }}", definition, name, key,
                       key);
  if (has_name("FATLINK_EQUAL("))
    return fmt::format("{}FATLINK_EQUAL({}, a, b) {{ return a{} == b{}; }}", definition, name, key,
                       key);
  if (has_name("FATLINK_KEY("))
    return fmt::format("{}FATLINK_KEY({}, x) {{ return fatlink::ascending(x{}); }}", definition,
                       name, key);
  if (has_name("FATLINK_KEEP("))
    return fmt::format("{}FATLINK_KEEP({}, x) {{ return x{} > 0; }}", definition, name, key);
  if (has_name("FATLINK_SAME_KEY(")) return "FATLINK_SAME_KEY(int, a, b) { return a == b; }";
  if (has_name("FATLINK_PART("))
    return fmt::format("{}FATLINK_PART({}, x) {{ return x{} < 0 ? 0 : 1; }}", definition, name,
                       key);
  if (has_name("FATLINK_BIN("))
    return fmt::format("{}FATLINK_BIN({}, x) {{ return x{} > 0; }}", definition, name, key);
  if (has_name("FATLINK_LOAD("))
    return fmt::format("{0}FATLINK_LOAD({1}, {1}, x) {{ return x; }}", definition, name);
  if (has_name("FATLINK_STORE("))
    return fmt::format("{0}FATLINK_STORE({1}, {1}, x) {{ return x; }}", definition, name);
  if (has_name("FATLINK_MAP1(")) return "FATLINK_MAP1(float, float, x) { return 2 * x; }";
  if (has_name("FATLINK_MAP2(")) return "FATLINK_MAP2(float, float, a, float, b) { return a + b; }";
  if (has_name("FATLINK_MAP3("))
    return "FATLINK_MAP3(float, float, a, float, b, float, c) { return a + b + c; }";
  return {};
}

/// The declaration as the head of a definition; empty where it is not in the header.
std::string example_of(std::string const& declaration)
{
  if (declaration.empty()) return {};
  return declaration.substr(0, declaration.find_last_not_of("; ") + 1) + " { … }";
}

/// The example has the definition of `type`, unless that is empty.
nlohmann::json describe_hook(detail::installed_contract const& contract, std::string const& hook,
                             example_type const& type)
{
  auto const macro = detail::macro_of(hook, contract);
  auto const declaration = contract.declaration_of(hook);
  auto const example = example_of_macro(macro, type);
  return {{"name", hook},
          {"declaration", declaration},
          {"macro", macro},
          {"example", example.empty() ? example_of(declaration) : example}};
}

/// The names of those that are built against the contract in its version; where there are none, of
/// those whose contracts include it.
strings libraries_of(installed_libraries const& installed,
                     detail::installed_contract const& contract)
{
  strings names;
  strings including;
  for (auto const& library : installed) {
    auto const& stated = library.contents.ident();
    if (!stated) continue;
    if (stated->contract == contract.name && stated->version == contract.version)
      names.push_back(library.name);
    auto const included = stated->includes.find(contract.name);
    if (included != stated->includes.end() && included->second == contract.version)
      including.push_back(library.name);
  }
  return names.empty() ? including : names;
}

/// 0 where the name states no size.
int element_bytes(std::string const& contract)
{
  int bytes = 0;
  if (auto const sized = detail::split_size(contract))
    (void)std::from_chars(sized->bytes.data(), sized->bytes.data() + sized->bytes.size(), bytes);
  return bytes;
}

nlohmann::json describe(std::string const& name, installed_libraries const& installed)
{
  auto const contract = detail::find_contract(name);
  auto hooks = nlohmann::json::array();
  std::set<std::string> macros;
  auto type = example_type_of(name);
  for (auto const& hook : contract.hooks) {
    auto& described = hooks.emplace_back(describe_hook(contract, hook, type));
    if (described["example"].get<std::string>().find(type.definition) == 0) type.definition.clear();
    auto const macro = described["macro"].get<std::string>();
    if (!macro.empty() && !macros.insert(macro).second) described["example"] = "";  // of this macro
  }
  return {{"name", contract.name},
          {"version", contract.version},
          {"header", contract.header_path},
          {"package", contract.package},
          {"element_bytes", element_bytes(name)},
          {"hooks", hooks},
          {"includes", contract.includes},
          {"libraries", libraries_of(installed, contract)},
          {"problem", ""}};
}

nlohmann::json describe_unusable(std::string const& name, error const& failure)
{
  return {{"name", name},
          {"version", 0},
          {"header", ""},
          {"package", ""},
          {"element_bytes", 0},
          {"hooks", nlohmann::json::array()},
          {"includes", nlohmann::json::object()},
          {"libraries", nlohmann::json::array()},
          {"problem", failure.details().message}};
}

void print_field(char const* title, std::string const& text)
{
  if (!text.empty()) fmt::print("    {:<10} {}\n", title, text);
}

/// Lines of at most 100 columns, which end after a comma.
void print_values(std::string_view title, std::string_view text)
{
  constexpr std::size_t k_columns = 85;  // after the title
  while (!text.empty()) {
    auto const end = text.size() <= k_columns ? text.npos : text.rfind(", ", k_columns - 1);
    auto const part = end == text.npos ? text : text.substr(0, end + 1);
    fmt::print("    {:<10} {}\n", title, part);
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    title = {};
  }
}

/// "combine(…)" without what every hook has before its type.
std::string plain_declaration(nlohmann::json const& hook)
{
  auto const text = hook["declaration"].get<std::string>();
  if (text.empty()) return hook["name"].get<std::string>();
  for (std::string_view const prefix : {"extern \"C\" __device__ ", "__device__ "})
    if (text.starts_with(prefix)) return text.substr(prefix.size());
  return text;
}

/// Each name once, without sizes if there are several contracts.
std::string library_names(std::vector<nlohmann::json> const& contracts)
{
  strings names;
  for (auto const& contract : contracts)
    for (auto const& library : contract["libraries"].get<strings>()) {
      auto name = contracts.size() > 1 ? name_of_any_size(library) : library;
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

/// The contracts that the given ones include, each once, without sizes if there are several.
std::string included_names(std::vector<nlohmann::json> const& contracts)
{
  strings names;
  for (auto const& contract : contracts)
    for (auto const& [included, version] : contract["includes"].items()) {
      auto name = contracts.size() > 1 ? name_of_any_size(included) : included;
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Contracts that differ in their sizes only.
void print_family(std::vector<nlohmann::json> const& contracts, bool in_detail)
{
  strings names;
  for (auto const& contract : contracts) names.push_back(contract["name"]);
  fmt::print("  {}\n", family_name(names));
  auto const& first = contracts.front();
  print_field("unusable", first["problem"]);
  for (auto const& hook : first["hooks"]) {
    print_values("hook", plain_declaration(hook));
    print_field("macro", hook["macro"]);
  }
  print_values("includes", included_names(contracts));
  if (first["problem"].get<std::string>().empty())
    print_values("libraries", library_names(contracts));
  if (!in_detail) return;
  for (auto const& contract : contracts) print_field("header", contract["header"]);
  print_field("package", first["package"]);
}

/// What contracts of one family have in common: all but size, place and libraries.
std::string family_key(nlohmann::json const& contract)
{
  std::string key = name_of_any_size(contract["name"]);
  if (!contract["problem"].get<std::string>().empty()) return contract["name"];
  for (auto const& hook : contract["hooks"]) key += "\n" + hook["declaration"].get<std::string>();
  return fmt::format("{}\n{}\n{}", key, contract["version"].get<int>(), contract["package"]);
}

}  // namespace

std::string family_name(strings const& names)
{
  if (names.size() == 1) return names.front();
  std::vector<std::string> sizes;
  for (auto const& name : names) sizes.emplace_back(detail::split_size(name)->bytes);
  std::ranges::sort(sizes, is_shorter);
  return fmt::format("{}_{{{}}}", detail::split_size(names.front())->base, fmt::join(sizes, ","));
}

std::string name_of_any_size(std::string const& name)
{
  auto const sized = detail::split_size(name);
  return sized ? fmt::format("{}_N", sized->base) : name;
}

nlohmann::json describe_contract(std::string const& name)
{
  return describe(name, read_libraries(search_path()));
}

nlohmann::json describe_contracts(strings names)
{
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  auto const installed = read_libraries(search_path());
  auto contracts = nlohmann::json::array();
  for (auto const& name : names) contracts.push_back(describe(name, installed));
  if (!names.empty()) return contracts;
  for (auto const& name : detail::list_contracts()) try {
      contracts.push_back(describe(name, installed));
    } catch (error const& failure) {
      contracts.push_back(describe_unusable(name, failure));
    }
  return contracts;
}

void print_contract(nlohmann::json const& contract)
{
  fmt::print("{}/{}: {}\n", contract["name"], contract["version"].get<int>(), contract["header"]);
  print_field("package", contract["package"]);
  if (auto const bytes = contract["element_bytes"].get<int>(); bytes != 0)
    print_field("elements", fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"));
  for (auto const& hook : contract["hooks"]) {
    auto const declaration = hook["declaration"].get<std::string>();
    print_field("hook", declaration.empty() ? hook["name"].get<std::string>() : declaration);
    print_field("macro", hook["macro"]);
    print_field("example", hook["example"]);
  }
  print_field("libraries", library_names({contract}));
  if (auto const names = contract["libraries"].get<strings>(); !names.empty())
    print_field("run", fmt::format("fatlink run --library {} --transform FILE.cu", names.front()));
}

void print_contracts(nlohmann::json const& contracts, bool in_detail)
{
  std::map<std::string, std::vector<nlohmann::json>> families;
  strings order;
  for (auto const& contract : contracts) {
    auto const key = family_key(contract);
    if (!families.contains(key)) order.push_back(key);
    families[key].push_back(contract);
  }
  if (contracts.empty()) return fmt::print("No contract is installed.\n");
  fmt::print("{}\n", colored(meaning::title, "Contracts"));
  for (auto const& key : order) print_family(families[key], in_detail);
}

}  // namespace fatlink::cli
