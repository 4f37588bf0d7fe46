// SPDX-License-Identifier: Apache-2.0
// fatlink inspect: shows the contents of fatbins and compares them with what a build expects.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "compile/source_inputs.hpp"
#include "error_report.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/source.hpp"
#include "inspect/inspect_report.hpp"
#include "inspect/print_ptx.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "targets.hpp"
#include "verbs.hpp"
#include "verification/build_check.hpp"

namespace fatlink::cli {
namespace {

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

int inspect(inspect_arguments const& arguments)
{
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
      output["files"].push_back(to_json(file));
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
  verb->add_option("INPUT", arguments->files, "names, or files of any form")->required();
  verb->add_option("--expect", arguments->expected.entries,
                   "fail if there is no such entry, for example ptx:sm_75 or ltoir:sm_90a; TARGET "
                   "native: of "
                   "this machine, all: every one")
      ->type_name("KIND:TARGET")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--expect-ident", arguments->expected.ident,
                   "fail if the ident of an entry is not this text")
      ->type_name("IDENT");
  verb->add_flag("--expect-hook", arguments->expected.hook,
                 "fail if no hook of the stated contract is defined or called");
  verb->add_option("--expect-reference", arguments->expected.reference,
                   "fail if this sidecar cannot be the reference of the fatbin")
      ->type_name("FILE.json");
  verb->add_option("--expect-plan", arguments->expected.plan,
                   "fail if this file cannot be the launch plan of the fatbin")
      ->type_name("FILE.json");
  auto* ptx = verb->add_flag("--ptx", arguments->ptx, "print the PTX");
  add_targets(*verb, arguments->targets,
              "print only the PTX that links for these GPUs, separated by commas; native: of this "
              "machine; all: every one")
      ->needs(ptx);
  add_source_flags(*verb, arguments->sources);
  verb->add_flag("--json", arguments->json, k_json_help)->excludes(ptx);
  verb->footer(
      "Examples: fatlink inspect --expect ltoir:sm_75 relu_poly.fatbin\n"
      "          fatlink inspect --ptx --target sm_90 relu_poly");
  verb->callback([arguments, &exit_status] { exit_status = inspect(*arguments); });
}

}  // namespace fatlink::cli
