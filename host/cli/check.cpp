// SPDX-License-Identifier: Apache-2.0
// fatlink check: preflight alone, for one or many targets. Needs neither CUDA nor a GPU; where
// an nvJitLink is found, toolkits are judged against it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "catalogue/installed_library.hpp"
#include "catalogue/transform_check.hpp"
#include "error_report.hpp"
#include "fatlink/nvjitlink.hpp"
#include "fatlink/preflight.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "targets.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct arguments {
  std::vector<std::string> inputs;
  std::vector<std::string> targets{"sm_90"};
  std::string mode = "both";
  std::string kernel;
  std::string linker;
  bool json = false;
};

struct judgement {
  fatlink::target target;
  link_mode mode;
  std::vector<finding> findings;
  installed_library const* library = nullptr;  ///< installed, and judged with; null: none

  [[nodiscard]] bool links() const
  {
    return std::none_of(findings.begin(), findings.end(),
                        [](finding const& found) { return found.severity == severity::error; });
  }
};

/// nvJitLink's version: told, or of the one that is found, or none.
std::optional<toolkit_version> linker_version(std::string const& told)
{
  if (told.empty()) {
    std::vector<nvjitlink_candidate> tried;
    if (auto const found = nvjitlink::find(tried))
      return toolkit_version{found->major(), found->minor()};
    return {};
  }
  auto const* const end = told.data() + told.size();
  toolkit_version version;
  auto const [dot, major_code] = std::from_chars(told.data(), end, version.major);
  if (major_code == std::errc{} && dot != end && *dot == '.') {
    auto const [rest, minor_code] = std::from_chars(dot + 1, end, version.minor);
    if (minor_code == std::errc{} && rest == end) return version;
  }
  throw usage_error({.message = fmt::format("--nvjitlink {}: no version", told),
                     .input = told,
                     .code = error_code::invalid_argument,
                     .hint = "write it as 13.0"});
}

/// The hooks that the inputs leave to another transform.
std::vector<std::string> open_hooks(judgement const& judged)
{
  std::vector<std::string> names;
  for (auto const& known : judged.findings)
    if (known.id == finding_id::missing_hook && known.severity == severity::warning)
      names.push_back(known.symbol);
  return names;
}

nlohmann::json library_to_json(installed_library const* library)
{
  if (library == nullptr) return nullptr;
  return {{"name", library->name}, {"file", library->contents.name()}};
}

nlohmann::json to_json(std::vector<judgement> const& all)
{
  auto json = nlohmann::json{{"links", true}, {"targets", nlohmann::json::array()}};
  for (auto const& one : all) {
    auto findings = nlohmann::json::array();
    for (auto const& found : one.findings) findings.push_back(finding_to_json(found));
    json["targets"].push_back({{"target", one.target.name()},
                               {"mode", to_string(one.mode)},
                               {"library", library_to_json(one.library)},
                               {"findings", findings},
                               {"open_hooks", open_hooks(one)},
                               {"links", one.links()}});
    if (!one.links()) json["links"] = false;
  }
  return json;
}

/// The verdict on a line of text.
std::string verdict(judgement const& judged)
{
  auto const is_unjudged = [](finding const& known) { return known.id == finding_id::not_judged; };
  if (std::any_of(judged.findings.begin(), judged.findings.end(), is_unjudged))
    return "cannot be judged";
  if (!judged.links()) return "does not link";
  auto const open = open_hooks(judged);
  return open.empty() ? "links"
                      : fmt::format("links once another input defines {}", fmt::join(open, ", "));
}

void print_text(std::vector<judgement> const& all)
{
  installed_library const* library = nullptr;
  for (auto const& one : all) {
    if (std::exchange(library, one.library) != one.library)
      fmt::print("With the installed library {} ({}):\n", one.library->name,
                 one.library->contents.name());
    fmt::print("{:<8} {}  {}\n", one.target.name(), to_string(one.mode), verdict(one));
    for (auto const& found : one.findings)
      fmt::print("  {}: {} [{}]\n    hint: {}\n", to_string(found.severity), found.message,
                 to_string(found.id), found.hint);
  }
}

std::vector<preflight_request> requests_of(arguments const& given)
{
  auto const linker = linker_version(given.linker);
  if (!linker) print_warnings({"no nvJitLink is found: toolkit versions are not judged"});
  std::vector<preflight_request> requests;
  for (auto const& wanted : parse_targets(given.targets))
    for (auto const mode : {link_mode::ptx, link_mode::lto})
      if (given.mode == "both" || given.mode == to_string(mode))
        requests.push_back(
            {.target = wanted, .mode = mode, .kernel = given.kernel, .linker = linker});
  return requests;
}

/// `installed` is empty unless the inputs lack a library; `selected` are those that they are for.
std::vector<judgement> judge(std::vector<fatbin> const& inputs,
                             std::vector<preflight_request> const& requests,
                             std::vector<installed_library> const& installed,
                             std::vector<installed_library> const& selected)
{
  std::vector<judgement> all;
  for (auto const& library : selected)
    for (auto const& request : requests)
      all.push_back(
          {request.target, request.mode, preflight_with(library, inputs, request), &library});
  if (!selected.empty()) return all;
  for (auto const& request : requests)
    all.push_back({request.target, request.mode,
                   lacks_library(inputs) ? preflight_without(installed, inputs, request)
                                         : preflight(inputs, request)});
  return all;
}

int check(arguments const& given)
{
  auto const inputs = read_fatbins(given.inputs);
  auto const installed =
      lacks_library(inputs) ? read_libraries(search_path()) : std::vector<installed_library>{};
  auto const selected = select_libraries(installed, inputs);
  auto const all = judge(inputs, requests_of(given), installed, selected);
  if (given.json)
    print_json("fatlink.check/1", to_json(all));
  else
    print_text(all);
  auto const links = [](judgement const& one) { return one.links(); };
  return std::all_of(all.begin(), all.end(), links) ? k_done : k_refused;
}

}  // namespace

void add_check(CLI::App& app, int& exit_status)
{
  auto given = std::make_shared<arguments>();
  auto* verb = app.add_subcommand("check", "Say what would not link, and why. Needs no CUDA.");
  verb->add_option(
          "FATBIN", given->inputs,
          "the library's fatbin, then the transforms'; names or files. Without a library:\n"
          "judged with every installed one that the transforms are for")
      ->required();
  add_targets(*verb, given->targets,
              "GPU architectures, with commas; native: this machine's; all: every one")
      ->capture_default_str();
  add_choice(*verb, "--mode", given->mode, {"ptx", "lto", "both"}, "ptx, lto or both");
  verb->add_option("--kernel", given->kernel, "must be in an input");
  verb->add_option("--nvjitlink", given->linker,
                   "judge toolkits against this version, as 13.0 (default: the one found)");
  verb->add_flag("--json", given->json, "one JSON object on standard output");
  verb->footer(
      "Example: fatlink check --target all apply_transform.fatbin gelu.fatbin\n"
      "A transform alone is judged with each installed library of the contract that it states or,\n"
      "where it states none, of each that calls what it defines; it must link with all of them.\n"
      "Exit status 4 when a target asked for does not link, or cannot be judged.");
  verb->callback([given, &exit_status] { exit_status = check(*given); });
}

}  // namespace fatlink::cli
