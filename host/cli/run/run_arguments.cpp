// SPDX-License-Identifier: Apache-2.0
#include "run/run_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "code_report.hpp"
#include "fatlink/input.hpp"
#include "fatlink/source.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::cli {
namespace {

std::vector<std::string> names_of(launch_plan const& plan, argument_role role)
{
  std::vector<std::string> names;
  for (auto const& argument : plan.arguments)
    if (argument.role == role) names.push_back(argument.name);
  return names;
}

std::string list(std::vector<std::string> const& names)
{
  std::string text;
  for (auto const& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

[[noreturn]] void fail_name(launch_plan const& plan, char const* option, std::string const& name,
                            char const* kind, std::vector<std::string> const& names)
{
  auto const similar = detail::nearest(names, name);
  fail_usage(fmt::format("{} {}: plan {} has no {} of this name", option, name, plan.name, kind),
             name,
             similar.empty() ? fmt::format("its {}s: {}", kind, list(names))
                             : fmt::format("did you mean {}?", similar));
}

/// Those that have no default.
std::vector<std::string> needed_of(launch_plan const& plan, std::vector<std::string> names)
{
  std::erase_if(names,
                [&](auto const& name) { return plan.find(name)->default_value.has_value(); });
  return names;
}

/// Files by the name of an argument of `role`. A single one may be without a name.
std::map<std::string, std::string> match_files(launch_plan const& plan, char const* option,
                                               argument_role role,
                                               std::vector<std::string> const& texts)
{
  std::map<std::string, std::string> files;
  auto const names = names_of(plan, role);
  auto const needed = needed_of(plan, names);
  for (auto const& text : texts) {
    auto const equals = text.find('=');
    auto const is_named = equals != std::string::npos && equals != 0;
    if (!is_named && needed.size() != 1)
      fail_usage(fmt::format("{} {}: plan {} has {} {}s", option, text, plan.name, needed.size(),
                             to_string(role)),
                 text, fmt::format("name one: {} NAME={}; {}", option, text, list(names)));
    auto const name = is_named ? text.substr(0, equals) : needed.front();
    auto const file = is_named ? text.substr(equals + 1) : text;
    if (std::ranges::find(names, name) == names.end())
      fail_name(plan, option, name, to_string(role), names);
    if (file.empty())
      fail_usage(fmt::format("{} {}: names no file", option, text), text,
                 fmt::format("write {} {}=FILE", option, name));
    if (!files.emplace(name, file).second)
      fail_usage(fmt::format("{} {}: is given twice", option, name), name, "pass it once");
  }
  return files;
}

constexpr double k_most_exact = 9007199254740992;  // 2^53

/// 1e3 is a whole number, too; -0.0 keeps its sign.
nlohmann::json as_whole(nlohmann::json value)
{
  if (!value.is_number_float()) return value;
  auto const number = value.get<double>();
  auto const is_whole = std::abs(number) <= k_most_exact && std::trunc(number) == number;
  if (!is_whole || (number == 0 && std::signbit(number))) return value;
  return static_cast<std::int64_t>(number);
}

/// A number, a JSON text, or one of inf, -inf and nan.
nlohmann::json parse_value(std::string const& name, std::string const& text)
{
  if (text == "inf" || text == "-inf" || text == "nan") return text;
  auto value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_discarded() || value.is_null() || value.is_boolean())
    fail_usage(fmt::format("--set {}: '{}' is not a number", name, text), text,
               R"(write a number, inf, [1, 0] for a complex number, or {"field": 1})");
  return as_whole(std::move(value));
}

std::vector<std::string> fields_of(element_type const& type)
{
  std::vector<std::string> names;
  for (auto const& field : type.fields) names.push_back(field.name);
  return names;
}

/// @throws usage_error the argument has other fields, or none.
void check_field(plan_argument const& argument, std::string const& field, std::string const& text)
{
  if (!argument.type) return;
  auto const names = fields_of(*argument.type);
  if (std::ranges::find(names, field) != names.end()) return;
  if (names.empty())
    fail_usage(fmt::format("--set {}: {} is a value of {}, which has no fields", text,
                           argument.name, to_string(*argument.type)),
               text, fmt::format("write --set {}=VALUE", argument.name));
  fail_usage(fmt::format("--set {}: {} has no field '{}'", text, argument.name, field), text,
             field_hint(*argument.type, field));
}

/// @throws usage_error a struct or state is stated as something other than its fields.
void check_value(plan_argument const& argument, nlohmann::json const& value)
{
  auto const names = argument.type ? fields_of(*argument.type) : std::vector<std::string>();
  auto const has_fields = argument.role == argument_role::state || !names.empty();
  if (value.is_object())
    for (auto const& [field, ignored] : value.items())
      check_field(argument, field, argument.name + "." + field);
  else if (has_fields)
    fail_usage(fmt::format("--set {}: {} is a {}, not {}", argument.name, argument.name,
                           names.empty() ? "state" : "struct", value.dump()),
               argument.name,
               names.empty() ? fmt::format("name a field: --set {}.FIELD=VALUE", argument.name)
                             : fmt::format("name a field, of {}: --set {}.{}=VALUE", list(names),
                                           argument.name, names.front()));
}

/// "NAME=REST" of an option that can be repeated.
struct named_text {
  std::string name = {};
  std::string text = {};
};

/// @throws usage_error an element is not NAME=TEXT, or a name is stated twice.
std::vector<named_text> parse_named(char const* option, std::vector<std::string> const& texts)
{
  std::vector<named_text> parsed;
  for (auto const& text : texts) {
    auto const equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      fail_usage(fmt::format("{} {}: has no {}", option, text, equals == 0 ? "name" : "value"),
                 text, fmt::format("write {} NAME=VALUE", option));
    parsed.push_back({text.substr(0, equals), text.substr(equals + 1)});
    for (std::size_t i = 0; i + 1 < parsed.size(); ++i)
      if (parsed[i].name == parsed.back().name)
        fail_usage(fmt::format("{} {}: is given twice", option, parsed[i].name), parsed[i].name,
                   "pass it once");
  }
  return parsed;
}

/// "bounds.low=3" sets a field.
void set_value(plan_arguments& arguments, launch_plan const& plan, named_text const& stated)
{
  auto const dot = stated.name.find('.');
  auto const name = stated.name.substr(0, dot);
  auto const* const argument = plan.find(name);
  auto const is_settable = argument != nullptr && (argument->role == argument_role::size ||
                                                   argument->role == argument_role::value ||
                                                   argument->role == argument_role::state);
  if (!is_settable) {
    auto names = names_of(plan, argument_role::value);
    for (auto const role : {argument_role::size, argument_role::state})
      for (auto& other : names_of(plan, role)) names.push_back(std::move(other));
    fail_name(plan, "--set", name, "value", names);
  }
  auto value = parse_value(stated.name, stated.text);
  auto& member = arguments.values[name];
  auto const is_field = dot != std::string::npos;
  if (!member.is_null() && (!is_field || !member.is_object()))
    fail_usage(fmt::format("--set {}: {} is already set as a whole", stated.name, name), name,
               "set either the whole value or its fields");
  if (is_field) {
    check_field(*argument, stated.name.substr(dot + 1), stated.name);
    member[stated.name.substr(dot + 1)] = std::move(value);
  } else {
    check_value(*argument, value);
    member = std::move(value);
  }
}

constexpr std::size_t k_most_elements = std::size_t{1} << 40;
constexpr std::size_t k_most_printed = std::size_t{1} << 20;

void add_modules(CLI::App& verb, run_arguments& arguments)
{
  group_scope const scope(verb, k_input_group);
  add_positional_transforms(verb, arguments.positional);
  add_library(verb, arguments.library);
  verb.add_option("--watch", arguments.watched,
                  "run now, and again when this file or its dependencies change; these are its "
                  ".json, the headers it includes, and the library")
      ->type_name("TRANSFORM");
  add_mode(verb, arguments.mode);
}

/// What few runs need.
void add_more(CLI::App& verb, run_arguments& arguments)
{
  group_scope const scope(verb, k_more_group);
  add_transforms(verb, arguments.transforms);
  verb.add_option(
          "--kernel", arguments.kernel,
          "kernel to execute if the library has no launch plan; its parameters must be (const "
          "float*, float*, size_t) (default: apply_transform, or the library's only kernel)")
      ->type_name("KERNEL");
  add_texts(verb, "--state", arguments.plan.states, "FILE",
            "file with the bytes of a transform's state; --set overrides its fields");
  add_count(verb, "--seed", arguments.seed, {}, "seed for the generated elements");
}

void add_device(CLI::App& verb, run_arguments& arguments)
{
  {
    group_scope const scope(verb, k_input_group);
    verb.add_option("--device", arguments.device,
                    "gpu, gpu:N or cpu (default: gpu, or cpu without a GPU); cpu is the reference "
                    "device, which links for sm_90, or with cpu:TARGET for TARGET; several devices "
                    "(all for every GPU, gpu:0,1, cpu,cpu or 2xcpu) divide the elements")
        ->type_name("DEVICE")
        ->each(check_device);
  }
  group_scope const scope(verb, k_reference_device_group);
  add_count(verb, "--instruction-budget", arguments.cpu.instruction_budget, {},
            "maximum number of instructions per warp; 0: no limit");
  verb.add_flag("--check-races", arguments.cpu.check_races,
                "fail on data races; two threads access the same bytes without synchronization, "
                "and one of them writes");
  verb.add_flag("--check-uninitialized", arguments.cpu.check_uninitialized,
                "fail if a thread reads shared memory before it is written");
  verb.add_flag(
      "--deterministic", arguments.cpu.deterministic,
      "run blocks in order on one core; atomics on floats then give the same bits in each run");
}

void add_data(CLI::App& verb, run_arguments& arguments)
{
  group_scope const scope(verb, k_data_group);
  auto* elements = add_count(verb, "--elements", arguments.elements, {1, k_most_elements},
                             "number of elements to generate; for example 65536, 1e6, 1.5M or 64Ki")
                       ->each([&](std::string const&) { arguments.states_elements = true; });
  add_texts(verb, "--input", arguments.plan.inputs, "FILE.npy",
            "read an input from FILE or NAME=FILE instead of generating it; pass NAME=FILE for "
            "each input, in its type, or FILE if there is only one; -: standard input")
      ->excludes(elements);
  add_texts(verb, "--output", arguments.plan.outputs, "FILE.npy",
            "write an output to FILE or NAME=FILE, if it is correct; from the last mode; pass "
            "NAME=FILE for each output, or FILE if there is only one; -: standard output");
  add_set(verb, arguments.plan.values);
}

void add_checks(CLI::App& verb, run_arguments& arguments)
{
  group_scope const scope(verb, k_result_group);
  add_texts(verb, "--expect", arguments.plan.expected, "FILE.npy",
            "fail if an output does not match this .npy file");
  verb.add_flag("--compare-cpu", arguments.compare_cpu,
                "also run on the reference device and compare the results");
  add_count(verb, "--print", arguments.print, {1, k_most_printed},
            "show the first N results beside the expected values")
      ->default_str("");
}

}  // namespace

void add_positional_transforms(CLI::App& verb, std::vector<std::string>& transforms)
{
  verb.add_option("TRANSFORM", transforms,
                  "installed name or file (default: relu_poly); bench has no default for a library "
                  "with a launch plan");
}

void add_library(CLI::App& verb, std::string& library)
{
  verb.add_option("--library", library,
                  "installed name or file (default: the one for the transform's contract); "
                  "apply_transform if the transform states no contract")
      ->type_name("LIBRARY");
}

void add_transforms(CLI::App& verb, std::vector<std::string>& transforms)
{
  add_texts(verb, "--transform", transforms, "TRANSFORM",
            "same as the argument TRANSFORM; repeat it to pass several transforms");
}

void add_set(CLI::App& verb, std::vector<std::string>& values)
{
  add_texts(verb, "--set", values, "NAME=VALUE",
            "set a size, a value, or a field of a struct or state; n=1000, init=0, bounds.low=1");
}

std::string field_hint(element_type const& type, std::string const& field)
{
  auto const names = fields_of(type);
  auto const similar = detail::nearest(names, field);
  return fmt::format("{}its fields: {}",
                     similar.empty() ? "" : fmt::format("did you mean {}? ", similar), list(names));
}

plan_arguments match_arguments(launch_plan const& plan, plan_texts const& texts)
{
  plan_arguments arguments{
      .inputs = match_files(plan, "--input", argument_role::input, texts.inputs),
      .outputs = match_files(plan, "--output", argument_role::output, texts.outputs),
      .expected = match_files(plan, "--expect", argument_role::output, texts.expected),
      .states = match_files(plan, "--state", argument_role::state, texts.states)};
  for (auto const& stated : parse_named("--set", texts.values)) set_value(arguments, plan, stated);
  for (auto const& argument : plan.arguments)
    if (!argument.type) arguments.of_transforms.insert(argument.name);
  return arguments;
}

void add_run_arguments(CLI::App& verb, run_arguments& arguments)
{
  add_modules(verb, arguments);
  add_device(verb, arguments);
  add_data(verb, arguments);
  add_checks(verb, arguments);
  add_more(verb, arguments);
  add_link_flags(verb, arguments.link);
  add_link_offline(verb, arguments.link);
  add_resources(verb, arguments.resources);
  verb.add_flag("--json", arguments.json, k_json_help);
}

namespace {

/// Whether `name` has a launch plan. A pipe is not read: its content is there once.
bool is_library(std::string const& name)
try {
  auto const file = input_file(name);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  if (is_source_name(file)) return launch_plan::beside(file).has_value();
  return launch_plan::beside(input::read(file)).has_value();
} catch (error const&) {
  return false;  // reading it later reports it
}

/// @throws usage_error
void refuse_libraries(run_arguments const& arguments)
{
  for (auto const& transform : arguments.transforms)
    if (is_library(transform))
      fail_usage(fmt::format("{} is a library, not a transform: it has a launch plan", transform),
                 transform,
                 arguments.library.empty() ? fmt::format("pass it with --library {}", transform)
                                           : "pass one library, with --library");
}

}  // namespace

run_arguments with_library(run_arguments arguments)
{
  arguments.transforms.insert(arguments.transforms.begin(), arguments.positional.begin(),
                              arguments.positional.end());
  arguments.positional.clear();
  refuse_libraries(arguments);
  arguments.library =
      library_for(arguments.library, arguments.transforms, arguments.link.sources.options.contract);
  return arguments;
}

}  // namespace fatlink::cli
