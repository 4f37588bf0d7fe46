// SPDX-License-Identifier: Apache-2.0
#include "run/plan_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "fatlink/preflight.hpp"
#include "options.hpp"
#include "plan/encode_value.hpp"
#include "plan/plan_values.hpp"
#include "run/plan_arrays.hpp"
#include "run/plan_states.hpp"
#include "run/segment_offsets.hpp"
#include "run/stated_sizes.hpp"
#include "terminal/streams.hpp"

namespace fatlink::cli {
namespace {

using detail::plan_formulas;

constexpr char const* k_state_fields =
    "state the fields of the struct in the .json beside the transform: \"element\": [{\"name\": …, "
    "\"type\": …}, …]";

/// Whether the argument is of a struct of which only the size is known.
bool lacks_fields(plan_argument const& argument, bool is_of_transforms)
{
  return is_of_transforms && argument.type->kind == scalar_kind::bytes;
}

[[noreturn]] void refuse_elements(char const* option, plan_argument const& argument,
                                  npy_reader const& file, bool is_of_transforms)
{
  auto const path = file.path().string();
  auto hint = fmt::format("convert the array to {}", to_string(*argument.type));
  if (is_of_transforms)
    hint += fmt::format("; or pass a transform for elements of {}", to_string(file.type()));
  if (lacks_fields(argument, is_of_transforms)) hint += fmt::format("; or {}", k_state_fields);
  throw refused_error(
      {{.id = finding_id::element_mismatch,
        .severity = severity::error,
        .files = {path},
        .symbol = argument.hook,
        .message = fmt::format("{} has elements of {}; argument {} has elements of {}", path,
                               to_string(file.type()), argument.name, to_string(*argument.type)),
        .hint = std::move(hint)}},
      fmt::format("run with {} {}", option, argument.name));
}

/// An argument's file, opened and compared with the plan.
std::unique_ptr<element_source> open_array(char const* option, plan_argument const& argument,
                                           std::string const& file, plan_arguments const& arguments)
{
  auto reader = open_npy(file);
  if (!is_stored_as(*argument.type, reader.type()))
    refuse_elements(option, argument, reader, arguments.of_transforms.contains(argument.name));
  return npy_elements(std::move(reader));
}

/// The extents as the plan counts them: an array of any dimensions has a count.
std::vector<std::size_t> extents_for(plan_argument const& argument, element_source const& source)
{
  if (argument.shape.size() == 1) return {source.size()};
  return source.extents();
}

host_array load(plan_argument const& argument, element_source const& source,
                std::vector<std::size_t> extents)
{
  host_array array{.type = *argument.type, .extents = std::move(extents)};
  array.bytes.resize(source.size() * array.type.size);
  source.fill(0, array.bytes);
  return array;
}

host_array read_expected(plan_argument const& argument, std::string const& file,
                         plan_arguments const& arguments)
{
  auto const source = open_array("--expect", argument, file, arguments);
  return load(argument, *source, source->extents());
}

/// `fields` replace those of `whole`, an object.
nlohmann::json merged(nlohmann::json whole, nlohmann::json const& fields)
{
  if (!whole.is_object() || !fields.is_object()) return fields;
  for (auto const& [key, value] : fields.items()) whole[key] = value;
  return whole;
}

/// A default that is a number is that of each field of a struct.
nlohmann::json for_each_field(element_type const& type, nlohmann::json number)
{
  if (type.fields.empty()) return number;
  auto fields = nlohmann::json::object();
  for (auto const& field : type.fields) fields[field.name] = number;
  return fields;
}

host_array value_of(plan_argument const& argument, plan_arguments const& arguments)
try {
  auto const stated = arguments.values.find(argument.name);
  auto value = argument.default_value ? nlohmann::json::parse(*argument.default_value)
                                      : nlohmann::json::object();
  if (stated == arguments.values.end() && !argument.default_value)
    fail_usage(
        fmt::format("argument {} has no value: {}", argument.name, to_string(*argument.type)),
        argument.name, fmt::format("state it: --set {}=0", argument.name));
  if (value.is_number()) value = for_each_field(*argument.type, std::move(value));
  if (stated != arguments.values.end()) value = merged(std::move(value), stated->second);
  return {.type = *argument.type, .bytes = detail::encode_value(*argument.type, value)};
} catch (std::invalid_argument const& cause) {
  if (lacks_fields(argument, arguments.of_transforms.contains(argument.name)))
    fail_usage(fmt::format("--set {}: {}", argument.name, cause.what()), argument.name,
               k_state_fields);
  fail_value(argument.name, cause.what());
}

/// The arrays of --input, with their extents as the plan counts them.
struct input_files {
  std::map<std::string, std::string> const& names;
  std::map<std::string, std::unique_ptr<element_source>> sources = {};
  detail::array_extents extents = {};
};

input_files open_inputs(launch_plan const& plan, plan_arguments const& arguments)
{
  input_files files{.names = arguments.inputs};
  for (auto const& [name, file] : arguments.inputs) {
    auto& source = files.sources[name] = open_array("--input", *plan.find(name), file, arguments);
    files.extents[name] = extents_for(*plan.find(name), *source);
  }
  return files;
}

/// Argument `index` of `plan`, of its file or generated.
host_array input_of(launch_plan const& plan, std::size_t index, input_files const& files,
                    count_lookup const& count_of, std::vector<std::size_t> const& extents,
                    std::uint64_t seed)
{
  auto const& argument = plan.arguments[index];
  auto const elements = segmented_elements(plan, argument.name, count_of);
  auto const has_offsets =
      elements && detail::is_integer(argument.type->kind) && extents.size() == 1;
  if (auto const file = files.sources.find(argument.name); file != files.sources.end()) {
    auto array = load(argument, *file->second, extents);
    if (has_offsets) check_offsets(files.names.at(argument.name), array.view(), *elements);
    return array;
  }
  auto const own_seed = seed_of(seed, index);
  if (has_offsets)
    return {.type = *argument.type,
            .extents = extents,
            .bytes = generate_offsets(*argument.type, extents[0], *elements, own_seed)};
  return load(argument, *generated_elements(*argument.type, extents, own_seed), extents);
}

/// The elements of arrays whose extents are known.
count_lookup counts_in(launch_plan const& plan,
                       std::vector<std::vector<std::size_t>> const& extents)
{
  return [&](std::string const& name) -> std::optional<std::size_t> {
    auto const index = static_cast<std::size_t>(plan.find(name) - plan.arguments.data());
    if (extents[index].size() != 1) return std::nullopt;
    return extents[index][0];
  };
}

/// Adds the inputs whose extents are known.
void add_inputs(run_data& data, plan_formulas const& formulas, input_files const& files,
                std::vector<std::int64_t> const& sizes, generated_inputs const& generated)
{
  auto const values = detail::compute_without_device(formulas, sizes);
  auto known = files.extents;
  for (std::size_t i = 0; i < formulas.plan.arguments.size(); ++i)
    if (values.extents[i].empty()) known.erase(formulas.plan.arguments[i].name);
  detail::check_extents(formulas, values, known);
  check_memory(formulas.plan, values.extents, generated.copies);
  for (std::size_t i = 0; i < formulas.plan.arguments.size(); ++i) {
    auto const& argument = formulas.plan.arguments[i];
    if (!argument.shape.empty() && values.extents[i].empty()) data.is_memory_unchecked = true;
    if (argument.role != argument_role::input) continue;
    if (values.extents[i].empty())
      data.of_device.push_back(argument.name);
    else
      data.inputs[argument.name] =
          input_of(formulas.plan, i, files, counts_in(formulas.plan, values.extents),
                   values.extents[i], generated.seed);
  }
}

/// With the extents that the device determines.
void check_all_memory(run_data& data, launch_plan const& plan, plan_extents const& extents,
                      array_copies copies)
{
  if (!std::exchange(data.is_memory_unchecked, false)) return;
  std::vector<std::vector<std::size_t>> lists;
  for (auto const& argument : plan.arguments) {
    auto const place = extents.arrays.find(argument.name);
    lists.push_back(place == extents.arrays.end() ? std::vector<std::size_t>{} : place->second);
  }
  std::uint64_t held = 0;
  for (auto const& [name, array] : data.inputs) held += array.bytes.size();
  check_memory(plan, lists, copies, held);
}

std::optional<std::size_t> count_of(plan_extents const& extents, std::string const& name)
{
  auto const array = extents.arrays.find(name);
  if (array == extents.arrays.end() || array->second.size() != 1) return std::nullopt;
  return array->second[0];
}

std::string text_of(std::vector<std::size_t> const& extents)
{
  return fmt::format("{}", fmt::join(extents, " x "));
}

}  // namespace

run_data read_run_data(plan_formulas const& formulas, plan_arguments const& arguments,
                       plan_references const& references, generated_inputs const& generated)
{
  auto const& plan = formulas.plan;
  auto const files = open_inputs(plan, arguments);
  auto stated = stated_sizes_of(formulas, arguments);
  add_generated_size(formulas, files.extents, stated, generated);
  auto const sizes = detail::find_sizes(formulas, files.extents, stated);
  run_data data;
  for (std::size_t i = 0; i < formulas.sizes.size(); ++i)
    data.sizes[plan.arguments[formulas.sizes[i]].name] = sizes[i];
  add_inputs(data, formulas, files, sizes, generated);
  for (auto const& [name, file] : arguments.expected)
    data.expected[name] = read_expected(*plan.find(name), file, arguments);
  for (auto const& argument : plan.arguments)
    if (argument.role == argument_role::value)
      data.values[argument.name] = value_of(argument, arguments);
    else if (argument.role == argument_role::state)
      data.states[argument.name] = state_of(argument, arguments, references);
  return data;
}

void add_device_inputs(run_data& data, prepared_plan const& code, plan_arguments const& arguments,
                       generated_inputs const& generated)
{
  if (data.of_device.empty() && !data.is_memory_unchecked) return;
  auto const& plan = code.plan();
  auto const extents = code.extents(size_arguments(data));
  check_all_memory(data, plan, extents, generated.copies);
  auto const files = open_inputs(plan, arguments);
  for (auto const& name : data.of_device) {
    auto const& needed = extents.arrays.at(name);
    auto const file = files.extents.find(name);
    auto const earlier = data.inputs.find(name);
    auto const index = static_cast<std::size_t>(plan.find(name) - plan.arguments.data());
    if (file != files.extents.end() && file->second != needed)
      fail_usage(fmt::format("argument {} has {} elements in the plan on this device; {} given",
                             name, text_of(needed), text_of(file->second)),
                 name,
                 fmt::format("pass an array of this size, or leave out --input {}: it is generated",
                             name));
    if (earlier == data.inputs.end())
      data.inputs[name] = input_of(
          plan, index, files, [&](auto const& array) { return count_of(extents, array); }, needed,
          generated.seed);
    else if (earlier->second.extents != needed)
      fail_usage(fmt::format("argument {} has {} elements in the plan here, and {} in the run "
                             "before: its size depends on the code or the device",
                             name, text_of(needed), text_of(earlier->second.extents)),
                 name, "run one mode, without --compare-cpu: --mode lto");
  }
}

}  // namespace fatlink::cli
