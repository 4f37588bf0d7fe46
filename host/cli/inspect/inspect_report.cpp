// SPDX-License-Identifier: Apache-2.0
#include "inspect/inspect_report.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "error_report.hpp"
#include "fatbin/entry_facts.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/ptx_interface.hpp"
#include "fatlink/resources.hpp"
#include "inspect/plan_report.hpp"
#include "preflight/entries.hpp"
#include "preflight/rules.hpp"
#include "reference_report.hpp"
#include "resources_report.hpp"

namespace fatlink::cli {
namespace {

/// The text form of functions or variables.
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

nlohmann::json describe_elements(ident const& stated)
{
  auto json = nlohmann::json::object();
  for (auto const& [hook, element] : stated.elements)
    json[hook] = {{"type", element.type},
                  {"size", element.size},
                  {"alignment", element.alignment},
                  {"dtype", to_string(element_type_of(element))}};
  return json;
}

/// A field that the ident does not state is absent: `fatlink digest` adds idents of digests only.
nlohmann::json ident_to_json(ident const& stated)
{
  nlohmann::json json{{"format", stated.format}, {"hooks", declarations(stated)}};
  if (!stated.contract.empty()) json["version"] = stated.version;
  for (auto const& [key, value] :
       {std::pair("contract", &stated.contract), std::pair("header_sha256", &stated.header_sha256),
        std::pair("toolkit", &stated.toolkit), std::pair("producer", &stated.producer),
        std::pair("float", &stated.float_flags), std::pair("package", &stated.package),
        std::pair("contract_package", &stated.contract_package)})
    if (!value->empty()) json[key] = *value;
  if (!stated.elements.empty()) json["elements"] = describe_elements(stated);
  return json;
}

nlohmann::json entry_to_json(fatbin_entry const& entry)
{
  nlohmann::json json{{"kind", name_of(entry.kind)},
                      {"target", entry.target.name()},
                      {"version", fmt::format("{}.{}", entry.version_major, entry.version_minor)},
                      {"offset", entry.offset},
                      {"compression", to_string(entry.compression)},
                      {"stored_bytes", entry.payload.size()},
                      {"bytes", entry.uncompressed_size},
                      {"options", entry.options}};
  if (detail::states_float_flags(entry)) json["float_flags"] = to_string(entry.float_flags());
  if (auto const ident = entry.ident(); ident) json["ident"] = ident_to_json(*ident);
  return json;
}

void add_interface(nlohmann::json& json, ptx_interface const& interface)
{
  json["kernels"] = signatures(interface.kernels);
  json["definitions"] = signatures(interface.definitions);
  json["weak"] = signatures(interface.weak);
  json["hooks"] = signatures(interface.hooks);
  json["variables"] = signatures(interface.variables);
  json["external_variables"] = signatures(interface.external_variables);
}

void add_contents(nlohmann::json& json, fatbin_entry const& entry, fatbin const& module)
{
  if (!shows_interface(entry)) return;
  add_interface(json, module.interface(entry));
  if (entry.kind != entry_kind::elf) return;
  json["relocatable"] = entry_access::facts_of(module, entry).is_relocatable;
  json["resources"] = describe_resources(resources(read_elf(entry, module.name()), module.name()));
}

/// The sizes of the payload without the padding of the container: of PTX that of its text, of a
/// bare module, around which fatlink made the container, that of the file.
void correct_sizes(nlohmann::json& json, fatbin_entry const& entry, fatbin const& module,
                   input const& file)
{
  auto const form = file.form();
  auto const is_bare =
      form == input_form::ptx || form == input_form::ltoir || form == input_form::cubin;
  if (is_bare) json["bytes"] = json["stored_bytes"] = file.bytes().size();
  if (entry.kind == entry_kind::ptx && shows_interface(entry))
    json["bytes"] = read_ptx(entry, module.name()).size();
}

/// Of an entry of a damaged file, only what can be read. Of other forms than fatbins, fatlink made
/// the entry, so its offset says nothing of the file.
nlohmann::json describe_entry(fatbin_entry const& entry, fatbin const& module,
                              loaded_file const& file)
{
  auto json = entry_to_json(entry);
  if (file.contents.form() != input_form::fatbin) {
    json["module"] = module.name();
    json.erase("offset");
  }
  try {
    correct_sizes(json, entry, module, file.contents);
    add_contents(json, entry, module);
  } catch (file_error const&) {
    if (!file.damage) throw;
  }
  return json;
}

/// Nothing of a damaged file.
nlohmann::json describe_findings(loaded_file const& file)
{
  auto json = nlohmann::json::array();
  if (file.damage) return json;
  for (auto const& module : file.contents.modules())
    for (auto const& finding : detail::find_double_arithmetic(module))
      json.push_back(finding_to_json(finding));
  return json;
}

char const* describe_integrity(nlohmann::json const& file)
{
  if (file.contains("damage")) return "damaged";
  return file["verified"].get<bool>() ? "verified" : "without digests";
}

void print_list(char const* title, nlohmann::json const& entry, char const* key)
{
  if (!entry.contains(key)) return;
  for (auto const& item : entry[key]) fmt::print("    {:<11} {}\n", title, item.get<std::string>());
}

void print_elements(nlohmann::json const& ident)
{
  auto const elements = ident.value("elements", nlohmann::json::object());
  for (auto const& [hook, element] : elements.items())
    fmt::print("    {:<11} {}: {}, {} bytes\n", "elements", hook,
               element["type"].get<std::string>(), element["size"].get<std::size_t>());
}

void print_ident(nlohmann::json const& ident)
{
  print_elements(ident);
  if (ident.contains("producer"))
    fmt::print("    {:<11} {}\n", "compiler", ident["producer"].get<std::string>());
  if (!ident.contains("contract")) {
    fmt::print("    {:<11} none\n", "contract");
    return;
  }
  fmt::print("    {:<11} {}/{} (header {:.12}), toolkit {}\n", "contract",
             ident["contract"].get<std::string>(), ident["version"].get<int>(),
             ident.value("header_sha256", ""), ident.value("toolkit", "unknown"));
  print_list("declares", ident, "hooks");
}

/// Of a cubin, those that its ident states.
std::string float_flags_of(nlohmann::json const& entry)
{
  auto const ident = entry.value("ident", nlohmann::json::object());
  return entry.value("float_flags", ident.value("float", ""));
}

void print_entry(nlohmann::json const& entry)
{
  fmt::print("  {} {}, version {}, {} bytes ({}, {} stored){}\n", entry["kind"].get<std::string>(),
             entry["target"].get<std::string>(), entry["version"].get<std::string>(),
             entry["bytes"].get<std::size_t>(), entry["compression"].get<std::string>(),
             entry["stored_bytes"].get<std::size_t>(),
             entry.contains("offset")
                 ? fmt::format(" at byte {}", entry["offset"].get<std::size_t>())
                 : std::string{});
  if (auto const flags = float_flags_of(entry); !flags.empty())
    fmt::print("    {:<11} {}\n", "float", flags);
  if (auto const ident = entry.find("ident"); ident != entry.end()) print_ident(*ident);
  if (!entry.value("relocatable", true))
    fmt::print("    {:<11} whole program: it cannot be linked\n", "linked");
  print_list("kernel", entry, "kernels");
  print_list("hook", entry, "hooks");
  print_list("defines", entry, "definitions");
  print_list("weak", entry, "weak");
  print_list("variable", entry, "variables");
  print_list("needs", entry, "external_variables");
  if (auto const list = entry.find("resources"); list != entry.end())
    print_resources(*list, "    resources   ");
}

void print_reference(nlohmann::json const& reference)
{
  fmt::print("  reference in {}\n", reference["file"].get<std::string>());
  for (auto const& [title, text] : reference_lines(reference))
    fmt::print("    {:<11} {}\n", title, text);
}

}  // namespace

nlohmann::json to_json(loaded_file const& file)
{
  nlohmann::json json{
      {"file", file.contents.name()},          {"form", to_string(file.contents.form())},
      {"bytes", file.contents.bytes().size()}, {"verified", file.contents.is_verified()},
      {"findings", describe_findings(file)},   {"entries", nlohmann::json::array()}};
  if (!file.producer.empty()) json["producer"] = file.producer;
  if (file.damage) json["damage"] = file.damage->what();
  // Of a damaged file, the .json may be that of another one.
  if (!file.damage) {
    if (auto const plan = launch_plan::beside(file.contents.name())) json["plan"] = to_json(*plan);
    if (auto stated = describe_reference(file.contents.name()); !stated.is_null())
      json["reference"] = std::move(stated);
  }
  for (auto const& module : file.contents.modules())
    for (auto const& entry : module.entries())
      json["entries"].push_back(describe_entry(entry, module, file));
  return json;
}

void print_text(nlohmann::json const& file)
{
  auto const form = file["form"].get<std::string>();
  auto kind = form == "fatbin" ? std::string() : form + ", ";
  if (file.contains("producer"))
    kind = fmt::format("compiled by {} to ", file["producer"].get<std::string>());
  fmt::print("{}: {}{} bytes, {}\n", file["file"].get<std::string>(), kind,
             file["bytes"].get<std::size_t>(), describe_integrity(file));
  std::string module;
  for (auto const& entry : file["entries"]) {
    auto const owner = entry.value("module", "");
    if (owner != file["file"].get<std::string>() && owner != std::exchange(module, owner) &&
        !owner.empty())
      fmt::print("  {}\n", owner);
    print_entry(entry);
  }
  if (auto const stated = file.find("reference"); stated != file.end()) print_reference(*stated);
  if (auto const plan = file.find("plan"); plan != file.end()) print_plan(*plan);
  for (auto const& finding : file["findings"])
    fmt::print("  warning: {} [{}]\n    hint: {}\n", finding["message"].get<std::string>(),
               finding["id"].get<std::string>(), finding["hint"].get<std::string>());
}

}  // namespace fatlink::cli
