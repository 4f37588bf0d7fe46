// SPDX-License-Identifier: Apache-2.0
// fatlink compile: source to a fatbin, without nvcc.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "catalogue/installed_library.hpp"
#include "code_report.hpp"
#include "compiler/installed_contract.hpp"
#include "error_report.hpp"
#include "fatbin/ident.hpp"
#include "fatbins/fatbin_output.hpp"
#include "fatlink/ptx_interface.hpp"
#include "input/find_sidecar.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "plan_checks.hpp"
#include "preflight/symbols.hpp"
#include "source_inputs.hpp"
#include "terminal/streams.hpp"
#include "util/text/nearest.hpp"
#include "verbs.hpp"
#include "verification/build_check.hpp"

namespace fatlink::cli {
namespace {

struct compile_arguments {
  std::string source;
  std::string output;
  compile_flags compile;
  bool timing = false;
  bool json = false;
};

nlohmann::json describe_times(compile_times const& times)
{
  return {{"read_ms", times.read_ms},
          {"lookup_ms", times.lookup_ms},
          {"open_ms", times.open_ms},
          {"compile_ms", times.compile_ms}};
}

nlohmann::json compiled_to_json(compiled_source const& compiled, compile_arguments const& arguments)
{
  auto json = describe_output(compiled.code, arguments.output, compiled.warnings);
  json["source"] = arguments.source;
  json["producer"] = compiled.producer;
  json["cache"] = to_string(compiled.cache);
  json["compile_ms"] = describe_times(compiled.times);
  return json;
}

void print_compiled(compiled_source const& compiled, compile_arguments const& arguments)
{
  fmt::print("{}: {}, contract {}, {} bytes, {}{}\n", arguments.output,
             entry_names(compiled.code, " "), contract_name(compiled.code),
             compiled.code.bytes().size(), compiled.producer,
             compiled.cache == cache_outcome::hit ? ", from the cache" : "");
  if (!arguments.timing) return;
  auto const& times = compiled.times;
  fmt::print("  headers {:.1f} ms, cache {:.1f} ms, start {:.1f} ms, compile {:.1f} ms\n",
             times.read_ms, times.lookup_ms, times.open_ms, times.compile_ms);
}

/// Checks the reference that the fatbin is shipped with, as fatlink_add_fatbin does.
/// @throws file_error it is not one of `code`.
void check_sidecar(compiled_source const& compiled, detail::sidecar_ptr const& sidecar)
{
  if (sidecar) check_build(compiled.code, {.reference = sidecar->name(), .allows_digest = true});
}

/// Of what the sidecar of the source states, what does not fit the plans of installed libraries
/// that the code is for.
void warn_about_plans(compiled_source& compiled)
try {
  std::vector<input> const files{input(compiled.code)};
  auto const stated = transform_reference::beside(files.front());
  if (!stated || !stated->states_hooks) return;
  auto const installed = read_libraries(search_path());
  auto const selected = select_libraries(installed, detail::modules_of(files));
  for (auto const& plan : read_plans(files, selected))
    for (auto const& finding : judge_references(plan))
      compiled.warnings.push_back(
          fmt::format("{} [{}]: {}", finding.message, to_string(finding.id), finding.hint));
} catch (file_error const& unreadable) {  // a plan
  compiled.warnings.emplace_back(unreadable.what());
}

/// Libraries are compiled with the defaults, and an lto link has one set of float flags.
void warn_about_float_flags(compiled_source& compiled, std::string const& file)
{
  for (auto const& entry : compiled.code.entries())
    if (entry.kind == entry_kind::ltoir && entry.float_flags() != float_flags{}) {
      compiled.warnings.push_back(fmt::format(
          "{} is compiled with {}: an lto link with inputs that have other float flags, such as a "
          "library with the defaults, must set all four flags (run, link and check: --ftz, "
          "--prec-div, --prec-sqrt and --fma, or --use-fast-math)",
          file, to_string(entry.float_flags())));
      return;
    }
}

/// The functions that code of `compiled` defines for other modules.
std::set<std::string> functions_of(compiled_source const& compiled)
{
  std::set<std::string> names;
  for (auto const& entry : compiled.code.entries()) {
    if (!shows_interface(entry)) continue;
    auto const& module = compiled.code.interface(entry);
    for (auto const* functions : {&module.definitions, &module.weak})
      for (auto const& function : *functions) names.insert(function.name);
  }
  return names;
}

/// Whether it is a library or a program: its functions are its own.
bool has_kernel(compiled_source const& compiled)
{
  return std::ranges::any_of(compiled.code.entries(), [&](fatbin_entry const& entry) {
    return shows_interface(entry) && !compiled.code.interface(entry).kernels.empty();
  });
}

using contracts_of_hooks = std::map<std::string, std::vector<std::string>>;

/// "the contract mix", "the contracts combine_1, combine_2".
std::string contracts_text(std::vector<std::string> const& names)
{
  return fmt::format("the contract{} {}", names.size() == 1 ? "" : "s", fmt::join(names, ", "));
}

/// "pass --contract mix".
std::string contract_remedy(std::vector<std::string> const& names)
{
  return fmt::format("pass --contract {}", names.size() == 1 ? names.front() : "NAME");
}

/// Whether one letter in four differs, or fewer.
bool is_similar(std::string const& function, std::string const& hook)
{
  return detail::edit_distance(function, hook) * 4 <= hook.size();
}

/// A warning of a function that is no hook, but has nearly the name of one, or lacks extern "C";
/// empty for others.
std::string warn_of_similar(std::string const& function, contracts_of_hooks const& contracts)
{
  for (auto const& [hook, names] : contracts) {
    if (function.starts_with(fmt::format("_Z{}{}", hook.size(), hook)))
      return fmt::format(
          "{} is {} without extern \"C\", so it is not the hook of {}: declare it extern \"C\", "
          "and {} to check its type",
          function, hook, contracts_text(names), contract_remedy(names));
    if (is_similar(function, hook))
      return fmt::format(
          "{} is not a hook of an installed contract; did you mean {}, a hook of {}? {} to check "
          "name and type",
          function, hook, contracts_text(names), contract_remedy(names));
  }
  return {};
}

/// Of functions with the name of a hook, whose types no contract has checked; if there are none, of
/// those with a similar name.
void warn_about_hooks(compiled_source& compiled)
{
  auto const contracts = detail::contracts_by_hook();
  auto const functions = functions_of(compiled);
  auto const before = compiled.warnings.size();
  for (auto const& [hook, names] : contracts)
    if (functions.contains(hook))
      compiled.warnings.push_back(fmt::format("{} is a hook of {}: {} to check its type", hook,
                                              contracts_text(names), contract_remedy(names)));
  if (compiled.warnings.size() != before || has_kernel(compiled)) return;
  for (auto const& function : functions)
    if (auto warning = warn_of_similar(function, contracts); !warning.empty())
      compiled.warnings.push_back(std::move(warning));
}

int compile(compile_arguments const& arguments)
{
  if (arguments.source == "-")
    fail_usage("a source cannot be read from standard input", "-",
               "name a file: half.cu, or half.ll for LLVM IR");
  check_fatbin_output(arguments.output, {}, arguments.json);
  if (!is_standard_output(arguments.output))
    must_not_overwrite({arguments.source}, arguments.output);
  auto options = arguments.compile.make_options();
  arguments.compile.warn_of_missing_folders();
  auto const code = source::read(arguments.source);
  if (options.contract.empty() && options.header.empty())
    options.contract = detail::contract_of_macros(code.text());
  auto tool = arguments.compile.compiler();
  auto compiled = tool.compile(code, options);
  keep_headers(compiled.headers,
               {arguments.output, detail::packed_sidecar(arguments.output).string()});
  warn_about_float_flags(compiled, arguments.source);
  if (options.contract.empty() && options.header.empty()) warn_about_hooks(compiled);
  auto const sidecar = detail::find_sidecar(arguments.source);
  check_sidecar(compiled, sidecar);
  warn_about_plans(compiled);
  write_fatbin_files(compiled.code, arguments.output, {sidecar}, detail::sidecar_precedence::inputs,
                     compiled.warnings);
  print_warnings(compiled.warnings);
  if (arguments.json)
    print_json("fatlink.compile/1", compiled_to_json(compiled, arguments));
  else
    print_compiled(compiled, arguments);
  return k_done;
}

}  // namespace

void add_compile(CLI::App& app, int& exit_status)
{
  auto arguments = std::make_shared<compile_arguments>();
  auto* verb = app.add_subcommand("compile",
                                  "Compile CUDA C++ or LLVM IR to a fatbin with NVRTC or libNVVM.");
  verb->add_option("SOURCE", arguments->source, "CUDA C++ (.cu), or LLVM IR (.ll, .bc)")
      ->required();
  add_fatbin_output(*verb, arguments->output);
  add_compile_flags(*verb, arguments->compile);
  verb->add_flag("--timing", arguments->timing, "show the time of each step");
  verb->add_flag("--json", arguments->json, k_json_help);
  verb->footer("Example: fatlink compile half.cu --contract apply_transform -o half.fatbin");
  verb->callback([arguments, &exit_status] { exit_status = compile(*arguments); });
}

}  // namespace fatlink::cli
