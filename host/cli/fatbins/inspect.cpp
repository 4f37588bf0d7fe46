// SPDX-License-Identifier: Apache-2.0
// fatlink inspect: shows the contents of fatbins and compares them with what a build expects.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "code_report.hpp"
#include "error_report.hpp"
#include "fatbin/entry_facts.hpp"
#include "fatbins/contracts.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/input.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/ptx_interface.hpp"
#include "fatlink/resources.hpp"
#include "fatlink/source.hpp"
#include "fatlink/target.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "plan/check_plan.hpp"
#include "preflight/entries.hpp"
#include "preflight/rules.hpp"
#include "source_inputs.hpp"
#include "verbs.hpp"
#include "verification/build_check.hpp"

namespace fatlink::cli {
namespace {

[[noreturn]] void fail_without_ptx(fatbin const& file, std::string const& scope)
{
  throw file_error(stage::fatbin,
                   {.message = fmt::format("{}: contains no PTX{}; it contains {}", file.name(),
                                           scope, entry_names(file, ", ")),
                    .input = file.name(),
                    .code = error_code::missing_ptx,
                    .hint = "compile it with nvcc -dlto -fatbin, which writes PTX and LTO-IR"});
}

/// The PTX entries that link for `targets`, without duplicates; every PTX entry if there are none.
std::vector<fatbin_entry const*> ptx_entries(fatbin const& file, std::vector<target> const& targets)
{
  std::vector<fatbin_entry const*> entries;
  for (auto const& entry : file.entries())
    if (entry.kind == entry_kind::ptx && targets.empty()) entries.push_back(&entry);
  for (auto const target : targets) {
    auto const* entry = file.find(entry_kind::ptx, target);
    if (entry == nullptr) fail_without_ptx(file, fmt::format(" that links for {}", target.name()));
    if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
  }
  if (entries.empty()) fail_without_ptx(file, {});
  return entries;
}

/// Prints the PTX entries of `file` that link for `targets`, or all of them without targets. For a
/// single target only the text is printed, so its line numbers are those of error messages.
/// @throws file_error there is no such entry.
void print_ptx(fatbin const& file, std::vector<target> const& targets)
{
  for (auto const* entry : ptx_entries(file, targets)) {
    if (targets.size() != 1) fmt::print("// {}: ptx {}\n", file.name(), entry->target.name());
    auto const text = read_ptx(*entry, file.name());
    fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
  }
}

using strings = std::vector<std::string>;

std::string type_of(plan_argument const& argument)
{
  if (argument.role == argument_role::state) return "pointer";
  return argument.type ? to_string(*argument.type) : "element";
}

/// The structs of the plan's arguments, by name.
nlohmann::json describe_types(launch_plan const& plan)
{
  auto types = nlohmann::json::object();
  for (auto const& argument : plan.arguments) {
    if (!argument.type || argument.type->fields.empty()) continue;
    auto& fields = types[to_string(*argument.type)] = nlohmann::json::array();
    for (auto const& field : argument.type->fields)
      fields.push_back({{"name", field.name}, {"type", to_string(field.type)}});
  }
  return types;
}

nlohmann::json describe_argument(plan_argument const& argument)
{
  nlohmann::json json{
      {"name", argument.name}, {"role", to_string(argument.role)}, {"type", type_of(argument)}};
  if (!argument.shape.empty()) json["shape"] = argument.shape;
  if (!argument.length.empty()) json["length"] = argument.length;
  if (argument.alignment != 0) json["alignment"] = argument.alignment;
  if (!argument.hook.empty()) json["hook"] = argument.hook;
  if (!argument.may_overlap.empty()) json["may_overlap"] = argument.may_overlap;
  if (argument.default_value) json["default"] = *argument.default_value;
  if (!argument.maximum.empty()) json["maximum"] = argument.maximum;
  if (!argument.limit.empty()) json["limit"] = argument.limit;
  return json;
}

nlohmann::json describe_launch(launch_plan const& plan, plan_launch const& launch)
{
  auto arguments = nlohmann::json::array();
  for (auto const& argument : launch.arguments)
    arguments.push_back(argument.argument.empty() ? argument.formula : argument.argument);
  return {{"kernel", launch.kernel},
          {"grid", launch.grid},
          {"block", launch.block},
          {"shared", launch.shared_bytes},
          {"overlap", launch.overlap},
          {"arguments", arguments},
          {"signature", detail::launch_signature(plan, launch)}};
}

template <typename Text>
void print_line(nlohmann::json const& title, Text const& text)
{
  fmt::print("    {:<11} {}\n", title, text);
}

/// `text` with the member `key` of `object`; empty without one.
std::string with_member(nlohmann::json const& object, char const* key, char const* text)
{
  return object.contains(key) ? fmt::format(fmt::runtime(text), object[key]) : std::string();
}

/// "blocks x 2": without dimensions of 1 at the end.
std::string describe_extent(nlohmann::json const& extent)
{
  auto formulas = extent.get<strings>();
  while (formulas.size() > 1 && formulas.back() == "1") formulas.pop_back();
  return fmt::format("{}", fmt::join(formulas, " x "));
}

/// "type  range: struct {low: float32, stride: int32}"
void print_type(std::string const& name, nlohmann::json const& fields)
{
  strings list;
  for (auto const& field : fields)
    list.push_back(fmt::format("{}: {}", field["name"], field["type"]));
  print_line("type", fmt::format("{}: struct {{{}}}", name, fmt::join(list, ", ")));
}

void print_argument(nlohmann::json const& argument)
{
  auto const shape = argument.value("shape", strings{});
  auto const count = shape.empty() ? std::string{} : fmt::format("[{}]", fmt::join(shape, ", "));
  print_line(argument["role"],
             fmt::format("{}: {}{}{}{}{}{}{}{}", argument["name"], argument["type"], count,
                         with_member(argument, "length", ", the first {} are results"),
                         with_member(argument, "default", " = {}"),
                         with_member(argument, "maximum", ", at most {}"),
                         with_member(argument, "limit", ", limited by {}"),
                         with_member(argument, "hook", ", of hook {}"),
                         with_member(argument, "alignment", ", aligned to {} bytes")));
}

void print_launch(nlohmann::json const& launch)
{
  print_line(
      "launch",
      fmt::format("{}, grid {}, block {}{}{}", launch["signature"], describe_extent(launch["grid"]),
                  describe_extent(launch["block"]),
                  launch["shared"] == "0" ? "" : with_member(launch, "shared", ", shared {}"),
                  launch["overlap"].get<bool>() ? ", overlaps the launch before" : ""));
}

/// "plan" in docs/schemas/inspect.json.
nlohmann::json contents_json(launch_plan const& plan)
{
  nlohmann::json json{{"name", plan.name},
                      {"summary", plan.summary},
                      {"file", plan.file},
                      {"types", describe_types(plan)},
                      {"arguments", nlohmann::json::array()},
                      {"let", nlohmann::json::object()},
                      {"let_order", nlohmann::json::array()},
                      {"launches", nlohmann::json::array()},
                      {"computes", nlohmann::json::object()},
                      {"depth", nlohmann::json::object()}};
  if (!plan.contract.empty()) json["contract"] = plan.contract;
  for (auto const& argument : plan.arguments)
    json["arguments"].push_back(describe_argument(argument));
  for (auto const& let : plan.lets) {
    json["let"][let.name] = let.formula;
    json["let_order"].push_back(let.name);
  }
  for (auto const& launch : plan.launches)
    json["launches"].push_back(describe_launch(plan, launch));
  for (auto const& result : plan.results) {
    json["computes"][result.output] = to_string(result.value);
    if (result.depth) json["depth"][result.output] = *result.depth;
  }
  return json;
}

/// `plan`: an object that contents_json returned.
void print_plan(nlohmann::json const& plan)
{
  auto const summary = plan["summary"].get<std::string>();
  fmt::print("  plan {}{}{}{}\n", plan["name"], summary.empty() ? "" : ": ", summary,
             with_member(plan, "contract", " (contract {})"));
  for (auto const& [name, fields] : plan["types"].items()) print_type(name, fields);
  for (auto const& argument : plan["arguments"]) print_argument(argument);
  for (auto const& name : plan["let_order"].get<strings>())
    print_line("let", fmt::format("{} = {}", name, plan["let"][name]));
  for (auto const& launch : plan["launches"]) print_launch(launch);
  for (auto const& [output, text] : plan["computes"].items())
    print_line("computes", fmt::format("{} = {}", output, text));
  for (auto const& [output, formula] : plan["depth"].items())
    print_line("depth", fmt::format("{} = {}", output, formula));
}

/// An input, and its damage if its entries can be listed although it is damaged.
struct loaded_file {
  input contents;
  std::optional<format_error> damage;
  std::string producer = {};  ///< of a source, the compiler that compiled it; empty: it is none
};

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
  if (!stated.includes.empty()) json["includes"] = stated.includes;
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
  if (file.damage) return nlohmann::json::array();
  std::vector<finding> findings;
  for (auto const& module : file.contents.modules())
    for (auto& finding : detail::find_double_arithmetic(module))
      findings.push_back(std::move(finding));
  return findings_to_json(findings);
}

char const* describe_integrity(nlohmann::json const& file)
{
  if (file.contains("damage")) return "damaged";
  return file["verified"].get<bool>() ? "verified" : "without digests";
}

void print_list(char const* title, nlohmann::json const& entry, char const* key)
{
  if (!entry.contains(key)) return;
  for (auto const& item : entry[key]) print_line(title, item);
}

void print_elements(nlohmann::json const& ident)
{
  auto const elements = ident.value("elements", nlohmann::json::object());
  for (auto const& [hook, element] : elements.items())
    print_line("elements", fmt::format("{}: {}, {} bytes", hook, element["type"], element["size"]));
}

void print_ident(nlohmann::json const& ident)
{
  print_elements(ident);
  if (ident.contains("producer")) print_line("compiler", ident["producer"]);
  if (!ident.contains("contract")) return print_line("contract", "none");
  print_line("contract",
             fmt::format("{}/{} (header {:.12}), toolkit {}", ident["contract"], ident["version"],
                         ident.value("header_sha256", ""), ident.value("toolkit", "unknown")));
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
  fmt::print("  {} {}, version {}, {} bytes ({}, {} stored){}\n", entry["kind"], entry["target"],
             entry["version"], entry["bytes"], entry["compression"], entry["stored_bytes"],
             with_member(entry, "offset", " at byte {}"));
  if (auto const flags = float_flags_of(entry); !flags.empty()) print_line("float", flags);
  if (auto const ident = entry.find("ident"); ident != entry.end()) print_ident(*ident);
  if (!entry.value("relocatable", true)) print_line("linked", "whole program: it cannot be linked");
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
  fmt::print("  reference in {}\n", reference["file"]);
  for (auto const& [title, text] : reference_lines(reference)) print_line(title, text);
}

/// An element of "files" in docs/schemas/inspect.json.
nlohmann::json contents_json(loaded_file const& file)
{
  nlohmann::json json{
      {"file", file.contents.name()},          {"form", to_string(file.contents.form())},
      {"bytes", file.contents.bytes().size()}, {"verified", file.contents.is_verified()},
      {"findings", describe_findings(file)},   {"entries", nlohmann::json::array()}};
  if (!file.producer.empty()) json["producer"] = file.producer;
  if (file.damage) json["damage"] = file.damage->what();
  // Of a damaged file, the .json may be that of another one.
  if (!file.damage) {
    if (auto const plan = launch_plan::beside(file.contents)) json["plan"] = contents_json(*plan);
    if (auto stated = describe_reference(file.contents); !stated.is_null())
      json["reference"] = std::move(stated);
  }
  for (auto const& module : file.contents.modules())
    for (auto const& entry : module.entries())
      json["entries"].push_back(describe_entry(entry, module, file));
  return json;
}

/// `file`: an object that contents_json returned.
void print_text(nlohmann::json const& file)
{
  auto kind = file["form"] == "fatbin" ? "" : fmt::format("{}, ", file["form"]);
  if (file.contains("producer")) kind = with_member(file, "producer", "compiled by {} to ");
  fmt::print("{}: {}{} bytes, {}\n", file["file"], kind, file["bytes"], describe_integrity(file));
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
    fmt::print("  {} {} [{}]\n    {} {}\n", colored(meaning::warning, "warning:"),
               finding["message"], finding["id"], colored(meaning::hint, "hint:"), finding["hint"]);
}

struct inspect_arguments {
  std::vector<std::string> files;
  compile_flags sources;
  build_expectations expected;
  std::vector<std::string> targets;
  bool ptx = false;
  bool json = false;
};

/// The entries of KIND:TARGET; `native` and `all` are several.
/// @throws usage_error another form, or an unknown KIND.
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

loaded_file load(std::filesystem::path const& path, compile_flags const& sources)
try {
  compile_report compiled;
  auto const flags = is_source_name(path) ? sources : compile_flags{};
  loaded_file file{read_inputs(std::vector{path}, flags, &compiled).front(), {}};
  if (!compiled.sources.empty()) file.producer = compiled.sources.front().producer;
  return file;
} catch (format_error const& failed) {
  if (failed.details().code != error_code::digest_mismatch) throw;
  return {input::read_unverified(path), failed};
}

bool has_expectations(build_expectations const& expected)
{
  return !expected.entries.empty() || !expected.ident.empty() || expected.hook ||
         !expected.reference.empty() || !expected.plan.empty();
}

build_expectations expand_expectations(build_expectations expected)
{
  std::vector<std::string> entries;
  for (auto const& word : expected.entries)
    for (auto& entry : expand_expected(word)) entries.push_back(std::move(entry));
  expected.entries = std::move(entries);
  return expected;
}

/// Without an input: the contract of --contract.
int inspect_contract(inspect_arguments const& arguments)
{
  auto others = arguments.sources;
  auto const name = std::exchange(others.options.contract, {});
  if (name.empty())
    fail_usage("an input or --contract is required", {}, "see fatlink inspect --help");
  others.refuse_source_options();
  if (arguments.ptx || has_expectations(arguments.expected) || !arguments.targets.empty())
    fail_usage("--ptx, --expect and --target require an input", {}, "pass a file or a name");
  auto const contract = describe_contract(name);
  if (arguments.json)
    print_json("fatlink.inspect/1", {{"files", nlohmann::json::array()}, {"contract", contract}});
  else
    print_contract(contract);
  return k_done;
}

int inspect(inspect_arguments const& arguments)
{
  if (arguments.files.empty()) return inspect_contract(arguments);
  auto const expected = expand_expectations(arguments.expected);
  auto const targets = parse_targets(arguments.targets);
  if (std::ranges::none_of(arguments.files,
                           [](std::string const& file) { return is_source_name(file); }))
    arguments.sources.refuse_source_options();
  auto output = nlohmann::json{{"files", nlohmann::json::array()}};
  int status = k_done;
  for (auto const& path : arguments.files) {
    auto const file = load(input_file(path), arguments.sources);
    if (file.damage && (arguments.ptx || has_expectations(expected)))
      throw format_error(*file.damage);
    for (auto const& module : file.contents.modules()) check_build(module, expected);
    if (arguments.ptx)
      for (auto const& module : file.contents.modules()) print_ptx(module, targets);
    else
      output["files"].push_back(contents_json(file));
    if (file.damage) {
      status = report_failure(*file.damage, false);
      output["error"] = error_to_json(*file.damage);
    }
  }
  if (arguments.json)
    print_json("fatlink.inspect/1", output);
  else
    for (auto const& file : output["files"]) print_text(file);
  return status;
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_status)
{
  auto arguments = std::make_shared<inspect_arguments>();
  auto* verb =
      app.add_subcommand("inspect", "Show the entries, idents, kernels and hooks of inputs.");
  verb->add_option("INPUT", arguments->files,
                   "installed names or files; without an input, --contract NAME is shown");
  {
    group_scope const scope(*verb, k_more_group);
    verb->add_option("--expect", arguments->expected.entries,
                     "fail if this entry is missing, for example ptx:sm_75 or ltoir:sm_90a; target "
                     "native: this machine's GPUs; all: all supported architectures")
        ->type_name("KIND:TARGET")
        ->take_all()
        ->allow_extra_args(false);
    verb->add_option("--expect-ident", arguments->expected.ident,
                     "fail if the ident of an entry differs from this text")
        ->type_name("IDENT");
    verb->add_flag("--expect-hook", arguments->expected.hook,
                   "fail if the fatbin neither defines nor calls a hook of its contract");
    verb->add_option("--expect-reference", arguments->expected.reference,
                     "fail if this sidecar is not a valid reference for the fatbin")
        ->type_name("FILE.json");
    verb->add_option("--expect-plan", arguments->expected.plan,
                     "fail if this file is not a valid launch plan for the fatbin")
        ->type_name("FILE.json");
  }
  auto* ptx = verb->add_flag("--ptx", arguments->ptx, "print the PTX");
  add_targets(*verb, arguments->targets,
              "print only the PTX that links for these GPUs; separated by commas")
      ->needs(ptx);
  add_source_flags(*verb, arguments->sources);
  verb->add_flag("--json", arguments->json, k_json_help)->excludes(ptx);
  verb->footer(
      "Examples: fatlink inspect --expect ltoir:sm_75 relu_poly.fatbin\n"
      "          fatlink inspect --ptx --target sm_90 relu_poly\n"
      "          fatlink inspect --contract combine_8");
  verb->callback([arguments, &exit_status] { exit_status = inspect(*arguments); });
}

}  // namespace fatlink::cli
