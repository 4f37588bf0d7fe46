// SPDX-License-Identifier: Apache-2.0
// fatlink inspect: what a fatbin holds, and whether it holds what was expected.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "error_report.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/ptx_interface.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "targets.hpp"
#include "verbs.hpp"
#include "verification/build_check.hpp"

namespace fatlink::cli {
namespace {

struct arguments {
  std::vector<std::string> files;
  build_expectations expected;
  std::vector<std::string> targets;
  bool ptx = false;
  bool json = false;
};

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

/// A field that the ident does not state is absent: `fatlink digest` adds idents of digests only.
nlohmann::json to_json(ident const& stated)
{
  nlohmann::json json{{"format", stated.format}, {"hooks", declarations(stated)}};
  if (!stated.contract.empty()) json["version"] = stated.version;
  for (auto const& [key, value] :
       {std::pair("contract", &stated.contract), std::pair("header_sha256", &stated.header_sha256),
        std::pair("toolkit", &stated.toolkit), std::pair("float", &stated.float_flags),
        std::pair("package", &stated.package),
        std::pair("contract_package", &stated.contract_package)})
    if (!value->empty()) json[key] = *value;
  return json;
}

nlohmann::json to_json(fatbin_entry const& entry)
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
  if (auto const ident = entry.ident(); ident) json["ident"] = to_json(*ident);
  return json;
}

void add_interface(nlohmann::json& json, fatbin_entry const& entry, fatbin const& file)
{
  auto const interface = read_ptx_interface(read_ptx(entry, file.name()), file.name());
  json["kernels"] = signatures(interface.kernels);
  json["definitions"] = signatures(interface.definitions);
  json["weak"] = signatures(interface.weak);
  json["hooks"] = signatures(interface.hooks);
  json["variables"] = signatures(interface.variables);
  json["external_variables"] = signatures(interface.external_variables);
}

/// A fatbin, and what makes it unusable although its entries can be listed.
struct loaded_file {
  fatbin contents;
  std::optional<format_error> damage;
};

loaded_file load(std::filesystem::path const& path)
try {
  return {fatbin::read(path), {}};
} catch (format_error const& failed) {
  if (failed.details().code != error_code::digest_mismatch) throw;
  return {fatbin::read_unverified(path), failed};
}

/// Of a damaged file what can be read of the entry.
nlohmann::json describe(fatbin_entry const& entry, loaded_file const& file)
{
  auto json = to_json(entry);
  if (entry.kind == entry_kind::ptx) try {
      add_interface(json, entry, file.contents);
    } catch (file_error const&) {
      if (!file.damage) throw;
    }
  return json;
}

nlohmann::json to_json(loaded_file const& file)
{
  nlohmann::json json{{"file", file.contents.name()},
                      {"bytes", file.contents.bytes().size()},
                      {"verified", file.contents.is_verified()},
                      {"entries", nlohmann::json::array()}};
  if (file.damage) json["damage"] = file.damage->what();
  for (auto const& entry : file.contents.entries())
    json["entries"].push_back(describe(entry, file));
  return json;
}

char const* integrity(nlohmann::json const& file)
{
  if (file.contains("damage")) return "damaged";
  return file["verified"].get<bool>() ? "verified" : "without digests";
}

void print_list(char const* title, nlohmann::json const& entry, char const* key)
{
  if (!entry.contains(key)) return;
  for (auto const& item : entry[key]) fmt::print("    {:<11} {}\n", title, item.get<std::string>());
}

void print_ident(nlohmann::json const& ident)
{
  if (!ident.contains("contract")) {
    fmt::print("    {:<11} none\n", "contract");
    return;
  }
  fmt::print("    {:<11} {}/{} (header {:.12}), toolkit {}\n", "contract",
             ident["contract"].get<std::string>(), ident["version"].get<int>(),
             ident.value("header_sha256", ""), ident.value("toolkit", "unknown"));
  print_list("declares", ident, "hooks");
}

void print_text(nlohmann::json const& file)
{
  fmt::print("{}: {} bytes, {}\n", file["file"].get<std::string>(),
             file["bytes"].get<std::size_t>(), integrity(file));
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

[[noreturn]] void fail_without_ptx(fatbin const& file, std::string const& scope)
{
  std::vector<std::string> names;
  for (auto const& entry : file.entries())
    names.push_back(fmt::format("{}:{}", to_string(entry.kind), entry.target.name()));
  throw file_error(stage::fatbin,
                   {.message = fmt::format("{}: holds no PTX{}; it holds {}", file.name(), scope,
                                           fmt::join(names, ", ")),
                    .input = file.name(),
                    .code = error_code::missing_ptx,
                    .hint = "compile it with nvcc -dlto -fatbin, which writes PTX beside LTO-IR"});
}

/// The PTX entries that link for `targets`, each once; every PTX entry where there are no targets.
std::vector<fatbin_entry const*> ptx_entries(fatbin const& file, std::vector<target> const& targets)
{
  std::vector<fatbin_entry const*> entries;
  for (auto const& entry : file.entries())
    if (entry.kind == entry_kind::ptx && targets.empty()) entries.push_back(&entry);
  for (auto const wanted : targets) {
    auto const* entry = file.find(entry_kind::ptx, wanted);
    if (entry == nullptr) fail_without_ptx(file, fmt::format(" that links for {}", wanted.name()));
    if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
  }
  if (entries.empty()) fail_without_ptx(file, {});
  return entries;
}

/// For one target the text alone, so that its lines have the numbers that errors name.
void print_ptx(fatbin const& file, std::vector<target> const& targets)
{
  for (auto const* entry : ptx_entries(file, targets)) {
    if (targets.size() != 1) fmt::print("// {}: ptx {}\n", file.name(), entry->target.name());
    auto const text = read_ptx(*entry, file.name());
    fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
  }
}

bool has_expectations(build_expectations const& expected)
{
  return !expected.entries.empty() || !expected.ident.empty() || expected.hook ||
         !expected.reference.empty();
}

int inspect(arguments const& given)
{
  auto expected = given.expected;
  expected.entries.clear();
  for (auto const& word : given.expected.entries)
    for (auto& entry : expand_expected(word)) expected.entries.push_back(std::move(entry));
  auto const targets = parse_targets(given.targets);
  auto output = nlohmann::json{{"files", nlohmann::json::array()}};
  int status = k_done;
  for (auto const& path : given.files) {
    auto const file = load(fatbin_file(path));
    if (file.damage && (given.ptx || has_expectations(expected))) throw format_error(*file.damage);
    check_build(file.contents, expected);
    if (given.ptx)
      print_ptx(file.contents, targets);
    else
      output["files"].push_back(to_json(file));
    if (file.damage) {
      status = report_failure(*file.damage, false);
      output["error"] = error_to_json(*file.damage);
    }
  }
  if (given.json)
    print_json("fatlink.inspect/1", output);
  else
    for (auto const& file : output["files"]) print_text(file);
  return status;
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_status)
{
  auto given = std::make_shared<arguments>();
  auto* verb = app.add_subcommand("inspect", "Show a fatbin's entries, idents, kernels and hooks.");
  verb->add_option("FATBIN", given->files, "names or files")->required();
  verb->add_option("--expect", given->expected.entries,
                   "KIND:TARGET, as ptx:sm_75 or ltoir:sm_90a: fail where no entry is one; TARGET "
                   "native: this machine's, all: every one")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--expect-ident", given->expected.ident,
                   "fail where the ident text of an entry is another");
  verb->add_flag("--expect-hook", given->expected.hook,
                 "fail where no hook of the stated contract is defined or called");
  verb->add_option("--expect-reference", given->expected.reference,
                   "FILE, a .json: fail where it cannot be the fatbin's reference");
  auto* ptx = verb->add_flag("--ptx", given->ptx, "print the PTX");
  add_targets(*verb, given->targets,
              "print only the PTX that links for these GPUs, with commas; native: this machine's; "
              "all: every one")
      ->needs(ptx);
  verb->add_flag("--json", given->json, "one JSON object on standard output")->excludes(ptx);
  verb->footer(
      "Examples: fatlink inspect --expect ltoir:sm_75 relu_poly.fatbin\n"
      "          fatlink inspect --ptx --target sm_90 relu_poly");
  verb->callback([given, &exit_status] { exit_status = inspect(*given); });
}

}  // namespace fatlink::cli
