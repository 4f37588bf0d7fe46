// SPDX-License-Identifier: Apache-2.0
// fatlink check: whether inputs link, for one or many targets. Requires neither CUDA nor a
// GPU; if nvJitLink is found, the toolkit versions of the inputs are compared with its version, and
// additional links compare their inline functions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>

#include "cache/offline.hpp"
#include "catalogue/installed_library.hpp"
#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/nvjitlink.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/source.hpp"
#include "installed.hpp"
#include "link_flags.hpp"
#include "options.hpp"
#include "plan_checks.hpp"
#include "preflight/entries.hpp"
#include "preflight/findings.hpp"
#include "preflight/symbols.hpp"
#include "source_inputs.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct check_arguments {
  std::vector<std::string> inputs;
  compile_flags sources;
  std::vector<std::string> targets{"sm_90"};
  std::string mode = "both";
  std::vector<std::string> kernels;
  std::string linker;
  link_options floats;  ///< only their float flags
  bool allow_calls = false;
  bool whole_archive = false;
  bool json = false;
};

/// The findings for one target, mode and installed library.
struct check_result {
  fatlink::target target;
  link_mode mode;
  std::vector<finding> findings;
  installed_library const* library = nullptr;  ///< the installed library of the check; null: none
  /// Modules whose symbols only the link reads.
  std::vector<std::string> unseen = {};
  std::set<std::string> defaults = {};  ///< hooks that the library defines and no transform fills

  [[nodiscard]] bool links() const
  {
    return std::none_of(findings.begin(), findings.end(),
                        [](finding const& finding) { return finding.severity == severity::error; });
  }
};

/// The version `text` of nvJitLink; if it is empty, of the nvJitLink that is found, if any.
std::optional<toolkit_version> parse_linker_version(std::string const& text)
{
  if (text.empty()) {
    if (cache::is_offline(false)) return {};
    std::vector<nvjitlink_candidate> candidates;
    if (auto const library = nvjitlink::find(candidates))
      return toolkit_version{library->major(), library->minor()};
    return {};
  }
  auto const* const end = text.data() + text.size();
  toolkit_version version;
  auto const [dot, major_code] = std::from_chars(text.data(), end, version.major);
  if (major_code == std::errc{} && dot != end && *dot == '.') {
    auto const [rest, minor_code] = std::from_chars(dot + 1, end, version.minor);
    if (minor_code == std::errc{} && rest == end) return version;
  }
  fail_usage(fmt::format("--nvjitlink: '{}' is not a version", text), text, "write it as 13.0");
}

/// The hooks that are left for other transforms.
std::vector<std::string> open_hooks(check_result const& result)
{
  std::vector<std::string> names;
  for (auto const& finding : result.findings)
    if (finding.id == finding_id::missing_hook && finding.severity == severity::warning)
      names.push_back(finding.symbol);
  return names;
}

nlohmann::json library_to_json(installed_library const* library)
{
  if (library == nullptr) return nullptr;
  return {{"name", library->name}, {"file", library->contents.name()}};
}

nlohmann::json results_to_json(std::vector<check_result> const& results)
{
  auto json = nlohmann::json{{"links", true}, {"targets", nlohmann::json::array()}};
  for (auto const& result : results) {
    json["targets"].push_back({{"target", result.target.name()},
                               {"mode", to_string(result.mode)},
                               {"library", library_to_json(result.library)},
                               {"findings", findings_to_json(result.findings)},
                               {"open_hooks", open_hooks(result)},
                               {"default_hooks", result.defaults},
                               {"unseen", result.unseen},
                               {"links", result.links()}});
    if (!result.links()) json["links"] = false;
  }
  return json;
}

/// The result as the text of its line.
std::string describe_result(check_result const& result)
{
  auto const is_unknown = [](finding const& finding) {
    return finding.id == finding_id::not_judged;
  };
  if (std::any_of(result.findings.begin(), result.findings.end(), is_unknown))
    return "cannot be checked";
  if (!result.links()) return "does not link";
  auto const hooks = open_hooks(result);
  auto const unseen =
      result.unseen.empty()
          ? std::string{}
          : fmt::format(", as far as can be checked: only the link reads the symbols of {}",
                        detail::list_names(result.unseen));
  std::string defaults;
  for (auto const& hook : result.defaults) defaults += fmt::format(", {} default", hook);
  return hooks.empty() ? "links" + defaults + unseen
                       : fmt::format("links if another input defines {}{}{}",
                                     fmt::join(hooks, ", "), defaults, unseen);
}

meaning meaning_of_result(check_result const& result)
{
  if (!result.links()) return meaning::bad;
  return open_hooks(result).empty() ? meaning::good : meaning::warning;
}

/// Names instead of paths in messages: of inputs that are given by name, and of installed
/// libraries.
class given_names {
 public:
  given_names(std::vector<std::string> const& inputs,
              std::vector<installed_library> const& libraries)
  {
    for (auto const& input : inputs)
      if (is_input_name(input)) names_.emplace_back(input_file(input).string(), input);
    for (auto const& library : libraries)
      names_.emplace_back(library.contents.name(), library.name);
  }

  [[nodiscard]] std::string shorten(std::string text) const
  {
    for (auto const& [path, name] : names_)
      for (auto place = text.find(path); place != text.npos;) {
        auto const is_whole =
            !continues(text, place + path.size()) && (place == 0 || is_before(text[place - 1]));
        if (is_whole) text.replace(place, path.size(), name);
        place = text.find(path, place + (is_whole ? name.size() : path.size()));
      }
    return text;
  }

 private:
  /// Whether a path may begin behind `letter`.
  static bool is_before(char letter)
  {
    return std::isalnum(static_cast<unsigned char>(letter)) == 0 &&
           std::string_view("_-./").find(letter) == std::string::npos;
  }

  /// Whether a path goes on at `place`: "gelu.fatbin" in "gelu.fatbin.json".
  static bool continues(std::string const& text, std::size_t place)
  {
    if (place < text.size() && text[place] == '.') ++place;
    return place < text.size() && (std::isalnum(static_cast<unsigned char>(text[place])) != 0 ||
                                   std::string_view("_-/").find(text[place]) != std::string::npos);
  }

  std::vector<std::pair<std::string, std::string>> names_;
};

using results_view = std::span<check_result const>;

/// The results of one target, which differ in their mode, at the beginning of `results`.
results_view first_target(results_view results)
{
  auto const is_other = [&](check_result const& result) {
    return result.library != results.front().library || result.target != results.front().target;
  };
  auto const end = std::ranges::find_if(results, is_other);
  return results.first(static_cast<std::size_t>(end - results.begin()));
}

std::string list_modes(results_view results)
{
  std::vector<std::string> modes;
  for (auto const& result : results) modes.emplace_back(to_string(result.mode));
  return fmt::format("{}", fmt::join(modes, ", "));
}

bool are_alike(finding const& a, finding const& b)
{
  return a.id == b.id && a.severity == b.severity && a.message == b.message && a.hint == b.hint;
}

/// The results that have a finding like `wanted`.
std::vector<check_result> results_with(results_view results, finding const& wanted)
{
  std::vector<check_result> found;
  for (auto const& result : results)
    if (std::ranges::any_of(result.findings,
                            [&](finding const& other) { return are_alike(other, wanted); }))
      found.push_back(result);
  return found;
}

bool say_the_same(results_view a, results_view b)
{
  return std::ranges::equal(a, b, [](check_result const& one, check_result const& other) {
    return one.library == other.library && one.mode == other.mode &&
           describe_result(one) == describe_result(other) &&
           std::ranges::equal(one.findings, other.findings, are_alike);
  });
}

/// The results of several targets, of which the first ones are `one`, as far as they say the same.
results_view targets_like(results_view one, results_view results)
{
  auto count = one.size();
  while (count < results.size()) {
    auto const next = first_target(results.subspan(count));
    if (!say_the_same(one, next)) break;
    count += next.size();
  }
  return results.first(count);
}

/// "sm_90"; "sm_80, sm_90"; of many "sm_75 to sm_121 (18 targets)". `results`: of `modes` each.
std::string list_targets(results_view results, std::size_t modes)
{
  constexpr std::size_t k_most = 4;
  std::vector<std::string> targets;
  for (std::size_t i = 0; i < results.size(); i += modes)
    targets.push_back(results[i].target.name());
  return targets.size() <= k_most ? fmt::format("{}", fmt::join(targets, ", "))
                                  : fmt::format("{} to {} ({} targets)", targets.front(),
                                                targets.back(), targets.size());
}

/// One line for each answer: "sm_90    ptx, lto  does not link".
void print_answers(std::string const& targets, results_view results, given_names const& names)
{
  while (!results.empty()) {
    auto const answer = describe_result(results.front());
    auto const end = std::ranges::find_if(
        results, [&](check_result const& result) { return describe_result(result) != answer; });
    auto const alike = results.first(static_cast<std::size_t>(end - results.begin()));
    fmt::print("{:<7}  {}  {}\n", targets, list_modes(alike),
               colored(meaning_of_result(results.front()), names.shorten(answer)));
    results = results.subspan(alike.size());
  }
}

/// Each finding once, with its modes unless all have it.
void print_findings(results_view results, given_names const& names)
{
  std::vector<finding> printed;
  for (auto const& result : results)
    for (auto const& finding : result.findings) {
      if (std::ranges::any_of(printed,
                              [&](auto const& other) { return are_alike(other, finding); }))
        continue;
      printed.push_back(finding);
      auto const owners = results_with(results, finding);
      auto const modes = owners.size() == results.size()
                             ? std::string{}
                             : fmt::format(" in {} mode", list_modes(owners));
      fmt::print("  {} {} [{}]\n    {} {}\n",
                 colored(meaning_of(finding.severity),
                         fmt::format("{}{}:", to_string(finding.severity), modes)),
                 names.shorten(finding.message), to_string(finding.id),
                 colored(meaning::hint, "hint:"), names.shorten(finding.hint));
    }
}

void print_checks(results_view results, given_names const& names)
{
  installed_library const* library = nullptr;
  while (!results.empty()) {
    auto const one = first_target(results);
    auto const alike = targets_like(one, results);
    auto const* const used = one.front().library;
    if (std::exchange(library, used) != used)
      fmt::print("With the installed library {} ({}):\n", used->name, used->contents.name());
    print_answers(list_targets(alike, one.size()), one, names);
    print_findings(one, names);
    results = results.subspan(alike.size());
  }
}

/// Whether the lto link that is judged states all float flags: those of sources are complete.
bool states_float_flags(check_arguments const& arguments)
{
  auto options = arguments.floats;
  if (std::ranges::any_of(arguments.inputs,
                          [](std::string const& name) { return is_source_name(name); }))
    complete_float_flags(options, link_mode::lto);
  return options.ftz && options.prec_div && options.prec_sqrt && options.fma;
}

std::vector<preflight_request> make_preflight_requests(check_arguments const& arguments)
{
  auto const linker = parse_linker_version(arguments.linker);
  if (!linker)
    print_warnings({cache::is_offline(false)
                        ? "offline mode is on: toolkit versions and inline functions with the same "
                          "name are not checked"
                        : "nvJitLink was not found: toolkit versions are not checked"});
  std::vector<preflight_request> requests;
  for (auto const& target : parse_targets(arguments.targets))
    for (auto const mode : parse_modes(arguments.mode))
      requests.push_back({.target = target,
                          .mode = mode,
                          .allow_calls = arguments.allow_calls,
                          .states_float_flags = states_float_flags(arguments),
                          .whole_archive = arguments.whole_archive,
                          .kernels = arguments.kernels,
                          .linker = linker});
  return requests;
}

/// The modules that a link takes of `files`, after the installed `library` if there is one.
std::vector<fatbin> linked_modules(std::vector<input> const& files,
                                   installed_library const* library,
                                   preflight_request const& request)
{
  auto modules = select_modules(files, request);
  if (library != nullptr) modules.insert(modules.begin(), library->contents);
  return modules;
}

/// Adds findings to a result, errors first.
void add_findings(check_result& result, std::vector<finding> const& more)
{
  result.findings.insert(result.findings.begin(), more.begin(), more.end());
  std::ranges::stable_sort(result.findings, std::ranges::greater{}, &finding::severity);
}

/// Adds the findings about plans to each result.
void check_plans(std::vector<check_result>& results, std::vector<stated_plan> const& plans,
                 bool allow_calls)
{
  for (auto& result : results)
    for (auto const& plan : plans) {
      if (plan.library != nullptr && plan.library != result.library) continue;
      add_findings(result, judge_plan(plan, {result.target, result.mode, allow_calls}));
    }
}

/// The result of `request`, without the findings of the links, with `library` if there is one.
check_result check_one(std::vector<input> const& files, preflight_request const& request,
                       installed_library const* library, std::vector<finding> findings)
{
  auto const choice = detail::choice_of(request);
  check_result result{request.target, request.mode, std::move(findings), library};
  for (auto const& module : select_modules(files, request))
    if (is_opaque(module, choice)) result.unseen.push_back(module.name());
  result.defaults = detail::default_hooks(linked_modules(files, library, request), choice);
  return result;
}

/// `installed` is empty unless the inputs lack a library; `selected` are the libraries that the
/// inputs are for.
std::vector<check_result> run_checks(std::vector<input> const& files,
                                     std::vector<preflight_request> const& requests,
                                     std::vector<installed_library> const& installed,
                                     std::vector<installed_library> const& selected)
{
  std::vector<check_result> results;
  for (auto const& library : selected)
    for (auto const& request : requests)
      results.push_back(
          check_one(files, request, &library, preflight_with(library, files, request)));
  if (!selected.empty()) return results;
  auto const lacks_kernels = lacks_library(detail::modules_of(files));
  for (auto const& request : requests)
    results.push_back(check_one(
        files, request, nullptr,
        lacks_kernels ? preflight_without(installed, files, request) : preflight(files, request)));
  return results;
}

/// What the links of one check show that preflight does not. Links that take the same entries show
/// the same for all targets, so they are made once.
class link_checks {
 public:
  /// Links nothing in offline mode, or if another nvJitLink is asked about than the one that is
  /// found.
  explicit link_checks(check_arguments const& arguments)
      : arguments_(arguments), is_available_(arguments.linker.empty() && !cache::is_offline(false))
  {
  }

  /// Adds findings to the result of an lto link, if it has no errors and nothing is missing.
  void add_to(check_result& result, std::vector<fatbin> const& modules)
  {
    if (result.mode != link_mode::lto || modules.size() < 2 || !result.links() ||
        !open_hooks(result).empty() || !is_available_)
      return;
    add_findings(result, find(modules, make_options(result)));
  }

 private:
  [[nodiscard]] link_options make_options(check_result const& result) const
  {
    auto options = arguments_.floats;
    options.target = result.target;
    options.mode = result.mode;
    options.allow_calls = arguments_.allow_calls;
    if (states_float_flags(arguments_)) complete_float_flags(options, link_mode::lto);
    return options;
  }

  std::vector<finding> const& find(std::vector<fatbin> const& modules, link_options const& options)
  {
    std::vector<fatbin_entry const*> entries;
    for (auto const& module : modules)
      entries.push_back(linked_entry(module, detail::choice_of(options)));
    auto const [known, is_new] = known_.try_emplace(std::move(entries));
    if (is_new) known->second = link(modules, options);
    return known->second;
  }

  std::vector<finding> link(std::vector<fatbin> const& modules, link_options const& options)
  try {
    return linker_.check(modules, options);
  } catch (unavailable_error const& missing) {
    is_available_ = false;
    print_warnings({fmt::format("inline functions with the same name were not compared: {}",
                                missing.details().message)});
    return {};
  }

  check_arguments const& arguments_;
  linker linker_;
  bool is_available_;
  std::map<std::vector<fatbin_entry const*>, std::vector<finding>> known_;
};

int check(check_arguments const& arguments)
{
  auto sources = arguments.sources;
  sources.options.float_flags = compile_float_flags(arguments.floats);
  auto const files = read_inputs(arguments.inputs, sources);
  auto const inputs = detail::modules_of(files);
  auto const installed =
      lacks_library(inputs) ? read_libraries(search_path()) : std::vector<installed_library>{};
  auto const selected = select_libraries(installed, inputs);
  auto const requests = make_preflight_requests(arguments);
  auto results = run_checks(files, requests, installed, selected);
  link_checks links(arguments);
  for (std::size_t index = 0; index < results.size(); ++index) {
    auto const& request = requests[index % requests.size()];
    links.add_to(results[index], linked_modules(files, results[index].library, request));
  }
  check_plans(results, read_plans(files, selected), arguments.allow_calls);
  if (arguments.json)
    print_json("fatlink.check/1", results_to_json(results));
  else
    print_checks(results, {arguments.inputs, selected});
  auto const does_link = [](check_result const& result) { return result.links(); };
  return std::all_of(results.begin(), results.end(), does_link) ? k_done : k_refused;
}

}  // namespace

void add_check(CLI::App& app, int& exit_status)
{
  auto arguments = std::make_shared<check_arguments>();
  auto* verb = app.add_subcommand(
      "check", "Check whether inputs link, and explain why not. CUDA is not required.");
  verb->add_option("INPUT", arguments->inputs,
                   std::string(k_inputs_help) +
                       "; without a library, the transforms are checked with every installed "
                       "library that uses them")
      ->required();
  add_targets(*verb, arguments->targets, "GPU architectures, separated by commas")
      ->capture_default_str();
  add_mode(*verb, arguments->mode);
  add_kernels(*verb, arguments->kernels, "report an error if no input defines this kernel");
  verb->add_option("--nvjitlink", arguments->linker,
                   "nvJitLink version to check against, such as 13.0 (default: installed)")
      ->type_name("VERSION");
  add_input_flags(*verb, arguments->allow_calls, arguments->whole_archive);
  add_float_flags(*verb, arguments->floats);
  add_source_flags(*verb, arguments->sources);
  verb->add_flag("--json", arguments->json, k_json_help);
  verb->footer(
      "Example: fatlink check --target all apply_transform.fatbin gelu.fatbin\n"
      "Without a library, transforms are checked with every installed library of their contract "
      "or,\n"
      "if they state no contract, with every installed library that calls a function they define;\n"
      "they must link with all of them. Exit status 4: they do not link, or the check is not "
      "possible.");
  verb->callback([arguments, &exit_status] { exit_status = check(*arguments); });
}

}  // namespace fatlink::cli
