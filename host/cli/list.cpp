// SPDX-License-Identifier: Apache-2.0
// fatlink list: the installed libraries and transforms, their origin, and which of them link.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>

#include "code_report.hpp"
#include "error_report.hpp"
#include "fatbin/ident.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct list_arguments {
  std::vector<std::string> names;
  std::string kind;
  bool names_only = false;
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
      fmt::print("    does not work with {}: {} [{}]\n      hint: {}\n",
                 replace_controls(library.library), replace_controls(finding.message),
                 to_string(finding.id), replace_controls(finding.hint));
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

void print_entry(installed_fatbin const& entry)
{
  auto const package = entry.ident ? entry.ident->package : std::string{};
  fmt::print("  {:<18} {:<20} {:<26} {} ({})\n", replace_controls(entry.name),
             entry.problem.empty() ? replace_controls(name_contract(entry)) : "unusable",
             replace_controls(package), entry.folder.path.string(), to_string(entry.folder.origin));
  if (!entry.problem.empty()) fmt::print("    {}\n", replace_controls(entry.problem));
  if (!entry.hidden_by.empty()) fmt::print("    hidden by {}\n", entry.hidden_by.string());
  if (!is_used(entry)) return;
  if (!entry.summary.empty()) fmt::print("    {}\n", replace_controls(entry.summary));
  if (entry.role == fatbin_role::library)
    fmt::print("    calls {}\n", fmt::join(entry.symbols, ", "));
  print_reference(entry);
  if (entry.role == fatbin_role::transform) print_libraries(entry);
}

void print_catalogue(catalogue const& entries)
{
  for (auto const& [role, title] :
       {std::pair(fatbin_role::library, "Libraries"),
        std::pair(fatbin_role::transform, "Transforms"), std::pair(fatbin_role::other, "Others")}) {
    bool needs_title = true;
    for (auto const& entry : entries) {
      if (entry.role != role) continue;
      if (std::exchange(needs_title, false)) fmt::print("{}\n", title);
      print_entry(entry);
    }
  }
  if (!entries.empty()) return;
  fmt::print("No fatbin is installed in\n");
  for (auto const& folder : search_path())
    fmt::print("  {} ({})\n", folder.path.string(), to_string(folder.origin));
  fmt::print(
      "The packages fatlink-runtime and fatlink-transforms contain a library and transforms.\n");
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

int list(list_arguments const& arguments)
{
  auto const entries = select(arguments);
  if (arguments.json)
    print_json("fatlink.list/1", catalogue_to_json(entries));
  else if (!arguments.names_only)
    print_catalogue(entries);
  else
    for (auto const& entry : entries)
      if (is_used(entry)) fmt::print("{}\n", entry.name);
  return k_done;
}

}  // namespace

void add_list(CLI::App& app, int& exit_status)
{
  auto arguments = std::make_shared<list_arguments>();
  auto* verb = app.add_subcommand(
      "list", "Show the installed libraries and transforms, and which of them work together.");
  verb->add_option("NAME", arguments->names, "show only these");
  add_choice(*verb, "--kind", arguments->kind, {"library", "transform"},
             "show only libraries or only transforms");
  auto* names =
      verb->add_flag("--names", arguments->names_only, "print only the names, one per line");
  verb->add_flag("--json", arguments->json, k_json_help)->excludes(names);
  verb->footer(
      "Folders that are searched for NAME.fatbin, in this order; the first match is used:\n"
      "$FATLINK_PATH (separated by colons), fatlink in $XDG_DATA_HOME (~/.local/share),\n"
      "share/fatlink beside the program's folder, and fatlink in each folder of $XDG_DATA_DIRS\n"
      "(/usr/local/share:/usr/share).");
  verb->callback([arguments, &exit_status] { exit_status = list(*arguments); });
}

}  // namespace fatlink::cli
