// SPDX-License-Identifier: Apache-2.0
// fatlink list: which libraries and transforms are installed, where from, and what works with what.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>

#include "error_report.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct arguments {
  std::vector<std::string> names;
  std::string kind;
  bool names_only = false;
  bool targets_only = false;
  bool json = false;
};

using catalogue = std::vector<installed_fatbin>;

bool in_use(installed_fatbin const& one)
{
  return one.hidden_by.empty() && one.problem.empty();
}

/// What another wrote, without what a terminal would obey.
std::string plain(std::string text)
{
  auto const obeyed = [](char letter) {
    return std::iscntrl(static_cast<unsigned char>(letter)) != 0;
  };
  std::replace_if(text.begin(), text.end(), obeyed, ' ');
  return text;
}

std::string contract_of(installed_fatbin const& one)
{
  if (!one.ident || one.ident->contract.empty()) return "no contract";
  return fmt::format("{}/{}", one.ident->contract, one.ident->version);
}

nlohmann::json to_json(fitting const& with)
{
  auto findings = nlohmann::json::array();
  for (auto const& found : with.findings) findings.push_back(finding_to_json(found));
  return {{"library", with.library}, {"works", with.findings.empty()}, {"findings", findings}};
}

nlohmann::json to_json(installed_fatbin const& one)
{
  nlohmann::json json{{"name", one.name},
                      {"file", one.file.string()},
                      {"folder", one.folder.path.string()},
                      {"origin", to_string(one.folder.origin)},
                      {"hidden_by", one.hidden_by.string()},
                      {"problem", one.problem},
                      {"kind", to_string(one.role)},
                      {"symbols", one.symbols},
                      {"summary", one.summary},
                      {"targets", nlohmann::json::array()},
                      {"libraries", nlohmann::json::array()},
                      {"contract", nullptr}};
  for (auto const& target : one.targets) json["targets"].push_back(target.name());
  for (auto const& with : one.libraries) json["libraries"].push_back(to_json(with));
  if (one.ident) {
    json["package"] = one.ident->package;
    json["toolkit"] = one.ident->toolkit;
    if (!one.ident->contract.empty())
      json["contract"] = {{"name", one.ident->contract},
                          {"version", one.ident->version},
                          {"header_sha256", one.ident->header_sha256}};
  }
  return json;
}

nlohmann::json to_json(catalogue const& shown)
{
  nlohmann::json json{{"path", nlohmann::json::array()}, {"fatbins", nlohmann::json::array()}};
  std::error_code ignored;
  for (auto const& folder : search_path())
    json["path"].push_back({{"folder", folder.path.string()},
                            {"origin", to_string(folder.origin)},
                            {"exists", std::filesystem::is_directory(folder.path, ignored)}});
  for (auto const& one : shown) json["fatbins"].push_back(to_json(one));
  return json;
}

void print_libraries(installed_fatbin const& transform)
{
  std::vector<std::string> works;
  for (auto const& with : transform.libraries)
    if (with.findings.empty()) works.push_back(with.library);
  if (!works.empty()) fmt::print("    works with {}\n", fmt::join(works, ", "));
  for (auto const& with : transform.libraries)
    for (auto const& found : with.findings)
      fmt::print("    not with {}: {} [{}]\n      hint: {}\n", plain(with.library),
                 plain(found.message), to_string(found.id), plain(found.hint));
  if (transform.libraries.empty())
    fmt::print("    no library installed has its contract or calls what it defines\n");
}

void print_one(installed_fatbin const& one)
{
  auto const package = one.ident ? one.ident->package : std::string{};
  fmt::print("  {:<18} {:<20} {:<26} {} ({})\n", plain(one.name),
             one.problem.empty() ? plain(contract_of(one)) : "unusable", plain(package),
             one.folder.path.string(), to_string(one.folder.origin));
  if (!one.problem.empty()) fmt::print("    {}\n", plain(one.problem));
  if (!one.hidden_by.empty()) fmt::print("    hidden by {}\n", one.hidden_by.string());
  if (!in_use(one)) return;
  if (!one.summary.empty()) fmt::print("    {}\n", plain(one.summary));
  if (one.role == fatbin_role::library) fmt::print("    calls {}\n", fmt::join(one.symbols, ", "));
  if (one.role == fatbin_role::transform) print_libraries(one);
}

void print_text(catalogue const& shown)
{
  for (auto const& [role, title] :
       {std::pair(fatbin_role::library, "Libraries"),
        std::pair(fatbin_role::transform, "Transforms"), std::pair(fatbin_role::other, "Others")}) {
    bool first = true;
    for (auto const& one : shown) {
      if (one.role != role) continue;
      if (std::exchange(first, false)) fmt::print("{}\n", title);
      print_one(one);
    }
  }
  if (!shown.empty()) return;
  fmt::print("Nothing is installed in\n");
  for (auto const& folder : search_path())
    fmt::print("  {} ({})\n", folder.path.string(), to_string(folder.origin));
  fmt::print(
      "The packages fatlink-runtime and fatlink-transforms have a library and transforms.\n");
}

/// What was asked for. @throws file_error a name that is not installed.
catalogue select(arguments const& given)
{
  for (auto const& name : given.names) (void)find_fatbin(name, search_path());
  auto all = list_installed(search_path());
  std::erase_if(all, [&](installed_fatbin const& one) {
    auto const& names = given.names;
    if (!names.empty() && std::find(names.begin(), names.end(), one.name) == names.end())
      return true;
    return !given.kind.empty() && given.kind != to_string(one.role);
  });
  return all;
}

/// For the shells' completions.
void print_targets()
{
  for (auto const& target : known_targets()) fmt::print("{}\n", target.name());
}

int list(arguments const& given)
{
  if (given.targets_only) {
    print_targets();
    return k_done;
  }
  auto const shown = select(given);
  if (given.json)
    print_json("fatlink.list/1", to_json(shown));
  else if (!given.names_only)
    print_text(shown);
  else
    for (auto const& one : shown)
      if (in_use(one)) fmt::print("{}\n", one.name);
  return k_done;
}

}  // namespace

void add_list(CLI::App& app, int& exit_status)
{
  auto given = std::make_shared<arguments>();
  auto* verb = app.add_subcommand(
      "list", "Show which libraries and transforms are installed, and what works with what.");
  verb->add_option("NAME", given->names, "these alone");
  add_choice(*verb, "--kind", given->kind, {"library", "transform"}, "library or transform");
  auto* names = verb->add_flag("--names", given->names_only, "the names alone, one a line");
  verb->add_flag("--targets", given->targets_only)->group("");  // hidden
  verb->add_flag("--json", given->json, "one JSON object on standard output")->excludes(names);
  verb->footer(
      "Searched for NAME.fatbin, the first goes before: $FATLINK_PATH (several, with colons),\n"
      "fatlink in $XDG_DATA_HOME (~/.local/share), share/fatlink beside the program, fatlink in\n"
      "each of $XDG_DATA_DIRS (/usr/local/share:/usr/share).");
  verb->callback([given, &exit_status] { exit_status = list(*given); });
}

}  // namespace fatlink::cli
