// SPDX-License-Identifier: Apache-2.0
// fatlink inspect: what a fatbin holds, and whether it holds what was expected.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "defaults.hpp"
#include "failure.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/ptx_interface.hpp"
#include "options.hpp"
#include "targets.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct arguments {
  std::vector<std::string> files;
  std::vector<std::string> expected;
  bool json = false;
};

std::string name_of(fatbin_entry const& entry)
{
  return fmt::format("{}:{}", to_string(entry.kind), entry.target.name());
}

/// KIND:TARGET, and each TARGET that `native` or `all` means. @throws usage_error another form, or
/// an unknown KIND.
std::vector<std::string> expand_expected(std::string const& expected)
{
  auto const colon = expected.find(':');
  if (colon == std::string::npos)
    fail_usage(fmt::format("--expect: '{}' is not KIND:TARGET", expected), expected,
               "write it as ptx:sm_75 or ltoir:sm_90a");
  auto const kind = expected.substr(0, colon);
  check_choice("--expect", kind, {"ptx", "ltoir", "elf"});
  std::vector<std::string> entries;
  for (auto const& target : parse_targets({expected.substr(colon + 1)}))
    entries.push_back(fmt::format("{}:{}", kind, target.name()));
  return entries;
}

void check_expected(fatbin const& file, std::vector<std::string> const& expected)
{
  for (auto const& wanted : expected) {
    auto const& entries = file.entries();
    if (std::any_of(entries.begin(), entries.end(),
                    [&](fatbin_entry const& entry) { return name_of(entry) == wanted; }))
      continue;
    std::vector<std::string> names;
    for (auto const& entry : entries) names.push_back(name_of(entry));
    throw file_error(stage::fatbin,
                     {.message = fmt::format("{}: holds no {} entry; it holds {}", file.name(),
                                             wanted, fmt::join(names, ", ")),
                      .input = file.name(),
                      .code = {},
                      .log = {},
                      .hint = "compile it with nvcc -dlto -fatbin and the architectures wanted"});
  }
}

/// Functions or variables as text.
template <typename Symbol>
std::vector<std::string> signatures(std::vector<Symbol> const& symbols)
{
  std::vector<std::string> texts;
  for (auto const& symbol : symbols) texts.push_back(to_string(symbol));
  return texts;
}

nlohmann::json declarations(ident const& stated)
{
  auto json = nlohmann::json::object();
  for (auto const& [name, type] : stated.hooks) json[name] = hook_declaration(name, type);
  return json;
}

nlohmann::json to_json(fatbin_entry const& entry, fatbin const& file)
{
  nlohmann::json json{{"kind", to_string(entry.kind)},
                      {"target", entry.target.name()},
                      {"version", fmt::format("{}.{}", entry.version_major, entry.version_minor)},
                      {"offset", entry.offset},
                      {"compression", to_string(entry.compression)},
                      {"stored_bytes", entry.payload.size()},
                      {"bytes", entry.uncompressed_size},
                      {"options", entry.options},
                      {"float_flags", to_string(entry.float_flags())}};
  if (auto const ident = entry.ident(); ident)
    json["ident"] = {{"contract", ident->contract},
                     {"version", ident->version},
                     {"header_sha256", ident->header_sha256},
                     {"toolkit", ident->toolkit},
                     {"float", ident->float_flags},
                     {"package", ident->package},
                     {"contract_package", ident->contract_package},
                     {"hooks", declarations(*ident)},
                     {"format", ident->format}};
  if (entry.kind != entry_kind::ptx) return json;
  auto const interface = read_ptx_interface(read_ptx(entry, file.name()), file.name());
  json["kernels"] = signatures(interface.kernels);
  json["definitions"] = signatures(interface.definitions);
  json["weak"] = signatures(interface.weak);
  json["hooks"] = signatures(interface.hooks);
  json["variables"] = signatures(interface.variables);
  json["external_variables"] = signatures(interface.external_variables);
  return json;
}

nlohmann::json to_json(fatbin const& file)
{
  nlohmann::json json{
      {"file", file.name()}, {"bytes", file.bytes().size()}, {"entries", nlohmann::json::array()}};
  for (auto const& entry : file.entries()) json["entries"].push_back(to_json(entry, file));
  return json;
}

void print_list(char const* title, nlohmann::json const& entry, char const* key)
{
  if (!entry.contains(key)) return;
  for (auto const& item : entry[key]) fmt::print("    {:<11} {}\n", title, item.get<std::string>());
}

void print_ident(nlohmann::json const& ident)
{
  fmt::print("    {:<11} {}/{} (header {:.12}), toolkit {}\n", "contract",
             ident["contract"].get<std::string>(), ident["version"].get<int>(),
             ident["header_sha256"].get<std::string>(), ident["toolkit"].get<std::string>());
  print_list("declares", ident, "hooks");
}

void print_text(nlohmann::json const& file)
{
  fmt::print("{}: {} bytes\n", file["file"].get<std::string>(), file["bytes"].get<std::size_t>());
  for (auto const& entry : file["entries"]) {
    fmt::print("  {} {}, version {}, {} bytes ({}, {} stored) at byte {}\n",
               entry["kind"].get<std::string>(), entry["target"].get<std::string>(),
               entry["version"].get<std::string>(), entry["bytes"].get<std::size_t>(),
               entry["compression"].get<std::string>(), entry["stored_bytes"].get<std::size_t>(),
               entry["offset"].get<std::size_t>());
    fmt::print("    {:<11} {}\n", "float", entry["float_flags"].get<std::string>());
    if (auto const ident = entry.find("ident"); ident != entry.end()) print_ident(*ident);
    print_list("kernel", entry, "kernels");
    print_list("hook", entry, "hooks");
    print_list("defines", entry, "definitions");
    print_list("weak", entry, "weak");
    print_list("variable", entry, "variables");
    print_list("needs", entry, "external_variables");
  }
}

int inspect(arguments const& given)
{
  std::vector<std::string> expected;
  for (auto const& word : given.expected)
    for (auto& entry : expand_expected(word)) expected.push_back(std::move(entry));
  auto files = nlohmann::json::array();
  for (auto const& path : given.files) {
    auto const file = fatbin::read(fatbin_file(path));
    check_expected(file, expected);
    files.push_back(to_json(file));
  }
  if (given.json)
    print_json(nlohmann::json{{"files", files}});
  else
    for (auto const& file : files) print_text(file);
  return k_done;
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_status)
{
  auto given = std::make_shared<arguments>();
  auto* verb = app.add_subcommand("inspect", "Show a fatbin's entries, idents, kernels and hooks.");
  verb->add_option("FATBIN", given->files, "names or files")->required();
  verb->add_option("--expect", given->expected,
                   "KIND:TARGET, as ptx:sm_75 or ltoir:sm_90a: fail where no entry is one; TARGET "
                   "native: this machine's, all: every one")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_flag("--json", given->json, "one JSON object on standard output");
  verb->footer("Example: fatlink inspect --expect ltoir:sm_75 relu_poly.fatbin");
  verb->callback([given, &exit_status] { exit_status = inspect(*given); });
}

}  // namespace fatlink::cli
