// SPDX-License-Identifier: Apache-2.0
// fatlink list: the installed libraries and transforms as a table, in detail with their origin and
// which of them link, and the installed contracts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>

#include "code_report.hpp"
#include "error_report.hpp"
#include "fatbin/ident.hpp"
#include "fatbins/contracts.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "preflight/contracts.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct list_arguments {
  std::vector<std::string> names;
  std::string kind;
  bool names_only = false;
  bool in_detail = false;
  bool json = false;
};

using catalogue = std::vector<installed_fatbin>;

/// `text` from a file, with control characters, which a terminal would interpret, as spaces.
std::string replace_controls(std::string text)
{
  auto const is_control = [](char letter) {
    return std::iscntrl(static_cast<unsigned char>(letter)) != 0;
  };
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  return text;
}

std::string name_contract(installed_fatbin const& entry)
{
  if (!entry.ident || entry.ident->contract.empty()) return "no contract";
  return detail::contract_of(*entry.ident);
}

nlohmann::json fitting_to_json(fitting const& library)
{
  return {{"library", library.library},
          {"works", library.findings.empty()},
          {"findings", findings_to_json(library.findings)}};
}

/// Null without one, and of a file that is refused because of its sidecar.
nlohmann::json reference_of(installed_fatbin const& entry)
{
  return entry.problem.empty() ? describe_reference(entry.file) : nlohmann::json();
}

nlohmann::json entry_to_json(installed_fatbin const& entry)
{
  nlohmann::json json{{"name", entry.name},
                      {"file", entry.file.string()},
                      {"folder", entry.folder.path.string()},
                      {"origin", to_string(entry.folder.origin)},
                      {"distribution", entry.folder.distribution},
                      {"hidden_by", entry.hidden_by.string()},
                      {"problem", entry.problem},
                      {"kind", to_string(entry.role)},
                      {"symbols", entry.symbols},
                      {"summary", entry.summary},
                      {"targets", nlohmann::json::array()},
                      {"libraries", nlohmann::json::array()},
                      {"contract", nullptr}};
  for (auto const& target : entry.targets) json["targets"].push_back(target.name());
  for (auto const& library : entry.libraries) json["libraries"].push_back(fitting_to_json(library));
  if (auto stated = reference_of(entry); !stated.is_null()) json["reference"] = std::move(stated);
  if (entry.ident) {
    json["package"] = entry.ident->package;
    json["toolkit"] = entry.ident->toolkit;
    if (!entry.ident->contract.empty())
      json["contract"] = {{"name", entry.ident->contract},
                          {"version", entry.ident->version},
                          {"header_sha256", entry.ident->header_sha256}};
  }
  return json;
}

nlohmann::json catalogue_to_json(catalogue const& entries)
{
  nlohmann::json json{{"path", nlohmann::json::array()}, {"fatbins", nlohmann::json::array()}};
  std::error_code ignored;
  for (auto const& folder : search_path())
    json["path"].push_back({{"folder", folder.path.string()},
                            {"origin", to_string(folder.origin)},
                            {"distribution", folder.distribution},
                            {"exists", std::filesystem::is_directory(folder.path, ignored)}});
  for (auto const& entry : entries) json["fatbins"].push_back(entry_to_json(entry));
  return json;
}

void print_libraries(installed_fatbin const& transform)
{
  std::vector<std::string> names;
  for (auto const& library : transform.libraries)
    if (library.findings.empty()) names.push_back(library.library);
  if (!names.empty()) fmt::print("    works with {}\n", fmt::join(names, ", "));
  for (auto const& library : transform.libraries)
    for (auto const& finding : library.findings)
      fmt::print("    {} {}: {} [{}]\n      {} {}\n", colored(meaning::bad, "does not work with"),
                 replace_controls(library.library), replace_controls(finding.message),
                 to_string(finding.id), colored(meaning::hint, "hint:"),
                 replace_controls(finding.hint));
  if (transform.libraries.empty())
    fmt::print("    no installed library has its contract or calls a function that it defines\n");
}

void print_reference(installed_fatbin const& entry)
{
  auto const reference = reference_of(entry);
  if (reference.is_null()) return;
  for (auto const& [title, text] : reference_lines(reference))
    fmt::print("    {} {}\n", title, text);
}

/// "hidden by FILE", with the origin of a file that a Python distribution installed.
std::string describe_hiding(installed_fatbin const& entry, catalogue const& entries)
{
  auto const text = "hidden by " + entry.hidden_by.string();
  auto const other = std::ranges::find(entries, entry.hidden_by, &installed_fatbin::file);
  return other == entries.end() || other->folder.distribution.empty()
             ? text
             : fmt::format("{} ({})", text, describe_origin(other->folder));
}

void print_entry(installed_fatbin const& entry, catalogue const& entries)
{
  auto const package = entry.ident ? entry.ident->package : std::string{};
  fmt::print("  {:<18} {:<20} {:<26} {} ({})\n", replace_controls(entry.name),
             entry.problem.empty() ? replace_controls(name_contract(entry)) : "unusable",
             replace_controls(package), entry.folder.path.string(), describe_origin(entry.folder));
  if (!entry.problem.empty()) fmt::print("    {}\n", replace_controls(entry.problem));
  if (!entry.hidden_by.empty()) fmt::print("    {}\n", describe_hiding(entry, entries));
  if (!is_used(entry)) return;
  if (!entry.summary.empty()) fmt::print("    {}\n", replace_controls(entry.summary));
  if (entry.role == fatbin_role::library)
    fmt::print("    calls {}\n", fmt::join(entry.symbols, ", "));
  print_reference(entry);
  if (entry.role == fatbin_role::transform) print_libraries(entry);
}

/// A line of the table: entries that differ in the size of their elements only are one.
struct table_row {
  std::string name;
  std::string contract;
  std::string summary;
};

std::string padded(std::string const& text, std::size_t width)
{
  return text + std::string(width - std::min(width, text_width(text)), ' ');
}

/// The problem of an entry that cannot be used, which begins with its file: without the folder, for
/// which a line has no place.
std::string problem_without_folder(installed_fatbin const& entry)
{
  auto const folder = entry.file.parent_path().string() + '/';
  auto const& problem = entry.problem;
  return problem.starts_with(folder) ? problem.substr(folder.size()) : problem;
}

/// What the table says of one entry: what is wrong with it, else its summary.
std::string describe_briefly(installed_fatbin const& entry)
{
  if (!entry.problem.empty()) return "unusable: " + problem_without_folder(entry);
  if (!entry.hidden_by.empty()) return "hidden by " + entry.hidden_by.string();
  for (auto const& library : entry.libraries)
    if (!library.findings.empty())
      return fmt::format("does not work with {} [{}]", library.library,
                         to_string(library.findings.front().id));
  return entry.summary;
}

/// The number of bytes in the name and the contract of a library that exists for several sizes.
std::string size_of(installed_fatbin const& entry)
{
  if (entry.role != fatbin_role::library || !is_used(entry) || !entry.ident) return {};
  auto const name = detail::split_size(entry.name);
  auto const contract = detail::split_size(entry.ident->contract);
  return name && contract && name->bytes == contract->bytes ? std::string(name->bytes) : "";
}

/// The summary for every size: "N-byte" of "4-byte".
std::string summary_of_any_size(installed_fatbin const& entry)
{
  auto text = entry.summary;
  auto const sized = ' ' + size_of(entry) + "-byte";
  if (auto const place = text.find(sized); place != text.npos)
    text.replace(place, sized.size(), " N-byte");
  return text;
}

/// Equal for entries that are one row.
std::string row_key(installed_fatbin const& entry)
{
  if (size_of(entry).empty()) return entry.name + '\n' + entry.file.string();
  return fmt::format("{}\n\n{}\n{}", name_of_any_size(entry.name),
                     name_of_any_size(entry.ident->contract), entry.ident->version);
}

table_row make_row(std::vector<installed_fatbin const*> const& family)
{
  auto const& first = *family.front();
  auto const contract =
      first.ident && !first.ident->contract.empty() ? first.ident->contract : "none";
  if (family.size() == 1) return {first.name, contract, describe_briefly(first)};
  std::vector<std::string> names;
  for (auto const* entry : family) names.push_back(entry->name);
  return {family_name(names), name_of_any_size(contract), summary_of_any_size(first)};
}

/// `entries`: sorted by name.
std::vector<table_row> make_rows(catalogue const& entries, fatbin_role role)
{
  std::vector<std::pair<std::string, std::vector<installed_fatbin const*>>> families;
  for (auto const& entry : entries) {
    if (entry.role != role) continue;
    auto const key = row_key(entry);
    auto const known =
        std::ranges::find(families, key, [](auto const& pair) { return pair.first; });
    if (known == families.end())
      families.push_back({key, {&entry}});
    else
      known->second.push_back(&entry);
  }
  std::vector<table_row> rows;
  for (auto const& [key, family] : families) rows.push_back(make_row(family));
  for (auto& row : rows)
    row = {replace_controls(row.name), replace_controls(row.contract),
           replace_controls(row.summary)};
  return rows;
}

/// The longest of `texts`, up to `limit`: longer ones move the columns of their own line only.
std::size_t column_width(std::vector<table_row> const& rows, std::string table_row::*column,
                         std::string const& title, std::size_t limit)
{
  auto width = text_width(title);
  for (auto const& row : rows) width = std::max(width, std::min(text_width(row.*column), limit));
  return width;
}

/// Prints lines of at most 100 columns; names are not cut, whatever their length.
void print_table(std::string const& title, std::vector<table_row> const& rows)
{
  constexpr std::size_t k_line = 100;
  constexpr std::size_t k_name = 40;
  constexpr std::size_t k_contract = 16;
  constexpr std::size_t k_least_summary = 10;
  auto const names = column_width(rows, &table_row::name, title, k_name);
  auto const contracts = column_width(rows, &table_row::contract, "Contract", k_contract);
  fmt::print("{}\n",
             colored(meaning::title, fmt::format("{}  {}  Summary", padded(title, names + 2),
                                                 padded("Contract", contracts))));
  for (auto const& row : rows) {
    auto line = fmt::format("  {}  {}", padded(row.name, names), padded(row.contract, contracts));
    auto const rest = k_line - std::min(k_line, text_width(line) + 2);
    if (rest >= k_least_summary) line += "  " + cut_text(row.summary, rest);
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

void print_in_detail(catalogue const& entries, fatbin_role role, char const* title)
{
  fmt::print("{}\n", colored(meaning::title, title));
  for (auto const& entry : entries)
    if (entry.role == role) print_entry(entry, entries);
}

void print_nothing_installed()
{
  fmt::print("No fatbin is installed in\n");
  for (auto const& folder : search_path())
    fmt::print("  {} ({})\n", folder.path.string(), describe_origin(folder));
  fmt::print(
      "The packages fatlink-runtime and fatlink-transforms contain a library and transforms.\n");
}

void print_catalogue(catalogue const& entries, bool in_detail)
{
  bool is_first = true;
  for (auto const& [role, title] :
       {std::pair(fatbin_role::library, "Libraries"),
        std::pair(fatbin_role::transform, "Transforms"), std::pair(fatbin_role::other, "Others")}) {
    if (std::ranges::find(entries, role, &installed_fatbin::role) == entries.end()) continue;
    if (!std::exchange(is_first, false)) fmt::print("\n");
    if (in_detail)
      print_in_detail(entries, role, title);
    else
      print_table(title, make_rows(entries, role));
  }
  if (entries.empty()) print_nothing_installed();
}

/// The entries that the arguments select. @throws file_error a name that is not installed.
catalogue select(list_arguments const& arguments)
{
  for (auto const& name : arguments.names) (void)find_fatbin(name, search_path());
  auto entries = list_installed(search_path());
  std::erase_if(entries, [&](installed_fatbin const& entry) {
    auto const& names = arguments.names;
    if (!names.empty() && std::find(names.begin(), names.end(), entry.name) == names.end())
      return true;
    return !arguments.kind.empty() && arguments.kind != to_string(entry.role);
  });
  return entries;
}

void print_names(catalogue const& entries)
{
  for (auto const& entry : entries)
    if (is_used(entry)) fmt::print("{}\n", entry.name);
}

int list_contracts(list_arguments const& arguments)
{
  auto const contracts = describe_contracts(arguments.names);
  if (arguments.json) {
    auto json = catalogue_to_json({});
    json["contracts"] = contracts;
    print_json("fatlink.list/1", json);
  } else if (arguments.names_only) {
    for (auto const& contract : contracts) fmt::print("{}\n", contract["name"]);
  } else {
    print_contracts(contracts, arguments.in_detail || !arguments.names.empty());
  }
  return k_done;
}

int list(list_arguments const& arguments)
{
  if (arguments.kind == "contract") return list_contracts(arguments);
  auto const entries = select(arguments);
  if (arguments.json)
    print_json("fatlink.list/1", catalogue_to_json(entries));
  else if (arguments.names_only)
    print_names(entries);
  else
    print_catalogue(entries, arguments.in_detail || !arguments.names.empty());
  return k_done;
}

}  // namespace

void add_list(CLI::App& app, int& exit_status)
{
  auto arguments = std::make_shared<list_arguments>();
  auto* verb =
      app.add_subcommand("list", "Show the installed libraries, transforms and contracts.");
  verb->add_option("NAME", arguments->names, "show only these, in detail");
  add_choice(*verb, "--kind", arguments->kind, {"library", "transform", "contract"},
             "what to show: libraries, transforms or the installed contracts");
  auto* names =
      verb->add_flag("--names", arguments->names_only, "print only the names, one per line");
  verb->add_flag("--long", arguments->in_detail,
                 "show details; hooks, reference, package, folder, and what each works with")
      ->excludes(names);
  verb->add_flag("--json", arguments->json, k_json_help)->excludes(names);
  verb->footer(
      "Folders that are searched for NAME.fatbin, in this order; the first match is used:\n"
      "$FATLINK_PATH (separated by colons), fatlink in $XDG_DATA_HOME (~/.local/share),\n"
      "share/fatlink beside the folder of the program, folders of Python packages\n"
      "($FATLINK_PYTHON_PATH), and fatlink in each folder of $XDG_DATA_DIRS\n"
      "(/usr/local/share:/usr/share).");
  verb->callback([arguments, &exit_status] { exit_status = list(*arguments); });
}

}  // namespace fatlink::cli
