// SPDX-License-Identifier: Apache-2.0
#include "run/run_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "fatlink/finding.hpp"
#include "options.hpp"
#include "plan/components.hpp"
#include "plan/plan_values.hpp"
#include "plan/read_plan.hpp"
#include "run/execute_plan.hpp"
#include "terminal/streams.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"
#include "verification/elements.hpp"
#include "verification/expected_values.hpp"

namespace fatlink::cli {
namespace {

constexpr std::size_t k_boundary = 1024;
constexpr std::size_t k_least_rounded = 64 * k_boundary;  // parts differ by less than 2 %

/// Where part `index` begins: count * index / parts, without its overflow.
std::size_t begin_of(std::size_t index, std::size_t count, std::size_t parts)
{
  auto const begin = count / parts * index + count % parts * index / parts;
  return count / parts < k_least_rounded || index == parts ? begin
                                                           : begin / k_boundary * k_boundary;
}

class held_elements final : public element_source {
 public:
  explicit held_elements(std::shared_ptr<host_array const> array) : array_(std::move(array)) {}
  [[nodiscard]] element_type const& type() const noexcept override { return array_->type; }
  [[nodiscard]] std::vector<std::size_t> const& extents() const noexcept override
  {
    return array_->extents;
  }
  [[nodiscard]] std::size_t size() const noexcept override { return array_->count(); }
  void fill(std::size_t start, std::span<std::byte> bytes) const override
  {
    if (!bytes.empty())
      std::memcpy(bytes.data(), array_->bytes.data() + start * array_->type.size, bytes.size());
  }

 private:
  std::shared_ptr<host_array const> array_;
};

using detail::plan_formulas;

// The memory that arrays take.

constexpr double k_gigabyte = 1e9;
constexpr auto k_unknown = std::numeric_limits<std::uint64_t>::max();

std::uint64_t available_in_machine()
{
  std::ifstream file("/proc/meminfo");
  std::uint64_t kibibytes = 0;
  for (std::string name, rest; file >> name >> kibibytes; std::getline(file, rest))
    if (name == "MemAvailable:") return kibibytes * 1024;
  return k_unknown;
}

/// Of the control group that a container sees as its own, version 2; "max" without a limit.
std::uint64_t limit_of_group()
{
  std::ifstream file("/sys/fs/cgroup/memory.max");
  std::uint64_t bytes = 0;
  return file >> bytes ? bytes : k_unknown;
}

std::uint64_t limit_of_process()
{
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return k_unknown;
  return limit.rlim_cur;
}

/// Bytes that this process can still use: MemAvailable of /proc/meminfo, or the limit of the
/// control group or of the address space (ulimit -v) if that is less; the largest number where
/// none of them is known.
std::uint64_t available_memory()
{
  return std::min({available_in_machine(), limit_of_group(), limit_of_process()});
}

std::size_t copies_of(plan_argument const& argument, array_copies copies)
{
  std::size_t const on_device = copies.on_host ? 1 : 0;
  switch (argument.role) {
    case argument_role::input:
      return copies.inputs + on_device;
    case argument_role::output:
      return copies.outputs + on_device;
    case argument_role::scratch:
      return on_device;
    default:
      return 0;
  }
}

/// As double: the sum of arrays may exceed 64 bits, and an error of 1e-16 does not matter.
double bytes_of(plan_argument const& argument, std::vector<std::size_t> const& extents)
{
  auto bytes = static_cast<double>(argument.type->size);
  for (auto const extent : extents) bytes *= static_cast<double>(extent);
  return bytes;
}

/// Extents of the arrays for which they are known, by argument.
using known_extents = std::map<std::string, std::vector<std::size_t>>;

/// @throws unavailable_error (out-of-memory) the copies take more than available_memory().
void check_memory(launch_plan const& plan, known_extents const& extents, array_copies copies)
{
  double needed = 0;
  for (auto const& argument : plan.arguments)
    if (auto const count = copies_of(argument, copies);
        count != 0 && extents.contains(argument.name))
      needed += static_cast<double>(count) * bytes_of(argument, extents.at(argument.name));
  auto const available = static_cast<double>(available_memory());
  if (needed <= available) return;
  throw unavailable_error(
      stage::device,
      {.message = fmt::format("the arrays of plan {} take {:.1f} GB of this machine's memory; "
                              "{:.1f} GB are available",
                              plan.name, needed / k_gigabyte, available / k_gigabyte),
       .input = plan.name,
       .code = error_code::out_of_memory,
       .hint = "use smaller inputs"});
}

// Offsets of segments, of inputs that "computes" states as such (segmented_fold, segmented_sort).

/// The elements of the first array in `node`; nothing if they are not known.
std::optional<std::size_t> count_in(computation const& node, known_extents const& extents)
{
  if (node.kind == operation::argument) {
    auto const array = extents.find(node.name);
    if (array == extents.end() || array->second.size() != 1) return std::nullopt;
    return array->second[0];
  }
  for (auto const& operand : node.operands)
    if (auto const count = count_in(operand, extents)) return count;
  return std::nullopt;
}

/// Where segment `index` of `segments` would begin if all had one length.
std::size_t even_offset(std::size_t index, std::size_t segments, std::size_t elements)
{
  return static_cast<std::size_t>(static_cast<detail::uint128>(index) * elements / segments);
}

[[noreturn]] void refuse_offsets(std::string const& file, std::string const& cause)
{
  throw file_error(
      stage::input,
      {.message = fmt::format("{}: {}", file, cause),
       .input = file,
       .code = error_code::invalid_npy,
       .hint = "segment i is the elements from offset i up to offset i + 1: write offsets that do "
               "not decrease and do not exceed the number of elements"});
}

std::string offset_text(element_type const& type, detail::int128 value)
{
  return detail::to_text(type.kind, detail::whole_number(value));
}

/// If the plan states that `input` holds the offsets of segments, how many elements the segments
/// divide.
std::optional<std::size_t> segmented_elements(launch_plan const& plan, std::string const& input,
                                              known_extents const& extents)
{
  for (auto const& result : plan.results)
    if (detail::has_segments(result.value.kind) && result.value.operands.at(1).name == input)
      return count_in(result.value.operands.at(0), extents);
  return std::nullopt;
}

std::vector<std::byte> generate_offsets(element_type const& type, std::size_t count,
                                        std::size_t elements, std::uint64_t seed)
{
  std::vector<std::byte> bytes(count * type.size);
  for (std::size_t i = 1; i < count; ++i) {
    auto const segments = count - 1;
    auto offset = even_offset(i, segments, elements);
    if (i < segments)
      offset += detail::mix(seed ^ i) % (even_offset(i + 1, segments, elements) - offset + 1);
    detail::store(type.kind, detail::whole_number(static_cast<detail::int128>(offset)),
                  bytes.data() + i * type.size);
  }
  return bytes;
}

void check_offsets(std::string const& file, array_view const& offsets, std::size_t elements)
{
  detail::int128 previous = 0;
  for (std::size_t i = 0; i < offsets.count(); ++i) {
    auto const* const place = offsets.bytes.data() + i * offsets.type.size;
    auto const value = detail::load(offsets.type.kind, place).whole;
    auto const text = [&] {
      return fmt::format("offset {} is {}", i, offset_text(offsets.type, value));
    };
    if (value > static_cast<detail::int128>(elements))
      refuse_offsets(file, fmt::format("{}, above {}, the number of elements", text(), elements));
    if (value < previous)
      refuse_offsets(file, i == 0 ? fmt::format("{}, below 0", text())
                                  : fmt::format("{}, less than offset {}, which is {}", text(),
                                                i - 1, offset_text(offsets.type, previous)));
    previous = value;
  }
}

// Runs of equal elements, and sorted inputs.

/// Whether `node` or an operand of it finds runs of equal elements in `input`.
bool finds_runs(computation const& node, std::string const& input)
{
  auto const is_of_runs = node.kind == operation::unique || node.kind == operation::unique_count ||
                          node.kind == operation::run_lengths;
  if (is_of_runs && node.operands.front().name == input) return true;
  return std::ranges::any_of(node.operands,
                             [&](auto const& operand) { return finds_runs(operand, input); });
}

bool finds_runs(launch_plan const& plan, std::string const& input)
{
  return std::ranges::any_of(
      plan.results, [&](plan_result const& result) { return finds_runs(result.value, input); });
}

/// The inputs that must be sorted, and the hook that orders each.
std::map<std::string, std::string> sorted_inputs(launch_plan const& plan)
{
  std::map<std::string, std::string> inputs;
  for (auto const& [output, node, depth] : plan.results) {
    auto const is_merge = node.kind == operation::merge;
    if (is_merge || node.kind == operation::lower_bound || node.kind == operation::upper_bound)
      inputs[node.operands[0].name] = node.name;
    if (is_merge) inputs[node.operands[1].name] = node.name;
  }
  return inputs;
}

[[noreturn]] void refuse_unsorted(std::string const& file, std::string const& hook,
                                  std::size_t index)
{
  throw file_error(stage::input,
                   {.message = fmt::format("{}: element {} is not where the hook {} sorts it", file,
                                           index, hook),
                    .input = file,
                    .code = error_code::invalid_npy,
                    .hint = "sort the array in the order of the transform; sort_N does"});
}

/// Sorts generated inputs where the plan needs it, and checks those of files. An array whose order
/// has no reference stays as it is.
void sort_inputs(run_data& data, launch_plan const& plan,
                 std::map<std::string, std::string> const& files,
                 std::vector<transform_reference> const& transforms)
{
  std::span<std::byte const> const state =
      data.states.empty() ? std::span<std::byte const>() : data.states.begin()->second;
  for (auto const& [name, hook] : sorted_inputs(plan)) {
    auto const input = data.inputs.find(name);
    if (input == data.inputs.end()) continue;
    auto array = input->second.read();
    auto sorted = detail::sort_elements(transforms, hook, array.view(), state);
    if (!sorted) continue;
    if (auto const file = files.find(name); file != files.end()) {
      auto const wrong = std::ranges::mismatch(*sorted, array.bytes).in1 - sorted->begin();
      if (static_cast<std::size_t>(wrong) < sorted->size())
        refuse_unsorted(file->second, hook, static_cast<std::size_t>(wrong) / array.type.size);
      continue;
    }
    array.bytes = std::move(*sorted);
    input->second = held(std::move(array));
  }
}

// Sizes.

/// Whether the size `formulas.sizes[size]` follows from an array that is given.
bool follows(plan_formulas const& formulas, detail::array_extents const& arrays, std::size_t size)
{
  auto const value = plan_formulas::k_first_size + size;
  for (std::size_t i = 0; i < formulas.shapes.size(); ++i) {
    auto const array = arrays.find(formulas.plan.arguments[i].name);
    if (array == arrays.end()) continue;
    for (std::size_t k = 0; k < std::min(array->second.size(), formulas.shapes[i].size()); ++k) {
      auto const& extent = formulas.shapes[i][k];
      if (extent.uses() == std::vector{value} &&
          extent.solve(static_cast<std::int64_t>(array->second[k])))
        return true;
    }
  }
  return false;
}

/// The sizes that --set states.
/// @throws usage_error one is not a whole number.
detail::stated_sizes stated_sizes_of(plan_formulas const& formulas, plan_arguments const& arguments)
{
  detail::stated_sizes sizes;
  for (auto const index : formulas.sizes) {
    auto const& name = formulas.plan.arguments[index].name;
    auto const place = arguments.values.find(name);
    if (place == arguments.values.end()) continue;
    if (!place->second.is_number_integer())
      fail_usage(fmt::format("--set {}: {} is not a whole number", name, place->second.dump()),
                 name, "state a whole number");
    if (place->second.is_number_unsigned() &&
        !std::in_range<std::int64_t>(place->second.get<std::uint64_t>()))
      fail_usage(fmt::format("--set {}: {} is above 2^63 - 1", name, place->second.dump()), name,
                 "state a smaller size");
    sizes[name] = place->second.get<std::int64_t>();
  }
  return sizes;
}

void add_generated_size(plan_formulas const& formulas, detail::array_extents const& arrays,
                        detail::stated_sizes& sizes, generated_inputs const& generated)
{
  for (std::size_t i = 0; i < formulas.sizes.size(); ++i) {
    auto const& size = formulas.plan.arguments[formulas.sizes[i]];
    if (follows(formulas, arrays, i) || sizes.contains(size.name) || size.default_value) continue;
    sizes[size.name] = static_cast<std::int64_t>(generated.elements);
    return;
  }
  if (generated.must_use_elements) refuse_elements(generated.elements, formulas.plan);
}

// States.

[[noreturn]] void fail_value(std::string const& name, std::string const& cause)
{
  fail_usage(fmt::format("--set {}: {}", name, cause), name,
             "pass a value of the argument's type; for a struct, pass the fields for which the "
             "plan has no default");
}

/// Sets the fields of a state that --set names.
void set_fields(std::vector<std::byte>& bytes, element_type const& type, std::string const& name,
                nlohmann::json const& fields)
try {
  for (auto const& [key, value] : fields.items()) {
    auto const field = std::ranges::find(type.fields, key, &element_field::name);
    if (field == type.fields.end())
      fail_usage(fmt::format("--set {}: the state has no field '{}'", name, key), name,
                 field_hint(type, key));
    auto const encoded = detail::encode_value(field->type, value);
    std::ranges::copy(encoded, bytes.begin() + static_cast<std::ptrdiff_t>(field->offset));
  }
} catch (std::invalid_argument const& cause) {
  fail_value(name, cause.what());
}

/// A sidecar that describes the hook of `argument` and states no state; null if none does, or what
/// no sidecar describes may read a state. The library's counts if every transform has a sidecar:
/// no other replaces its hooks unseen.
transform_reference const* find_stateless(plan_argument const& argument,
                                          plan_references const& references)
{
  auto const& list = references.list;
  auto const count =
      references.has_library && references.is_incomplete ? list.size() - 1 : list.size();
  for (auto const& reference : std::span(list).first(count))
    if (reference.states_hooks && reference.find(argument.hook) != nullptr) return &reference;
  auto const is_known = argument.hook.empty() && !references.is_incomplete && !list.empty();
  return is_known ? &list.front() : nullptr;
}

/// The bytes of a file of --state. Without an owner nothing says how many they are.
std::vector<std::byte> read_state(plan_argument const& argument, std::string const& file,
                                  plan_references const& references)
{
  auto bytes = detail::read_file(file, limits::k_file_bytes, "pass a file with the state's bytes");
  if (auto const* const owner = owner_of(argument, references.list); owner != nullptr) {
    if (bytes.size() != owner->types.state->size)
      fail_usage(
          fmt::format("--state {}: {} has {} bytes, and the state of {} has {}", argument.name,
                      file, bytes.size(), owner->name, owner->types.state->size),
          file,
          fmt::format(
              "write the fields of {}'s \"state\" in the layout of the struct, including padding",
              owner->file));
  } else if (auto const* const stateless = find_stateless(argument, references)) {
    fail_usage(fmt::format("--state {}: {} states no \"state\"", argument.name, stateless->file),
               file, "leave out --state; if the hook reads a state, declare its fields there");
  }
  return bytes;
}

/// The bytes of the state `argument`; empty: null.
/// @throws usage_error a file of another size than the state, or for a hook that has none; an
///   unknown field, or a value that is not of its type. @throws file_error the file.
std::vector<std::byte> state_of(plan_argument const& argument, plan_arguments const& arguments,
                                plan_references const& references)
{
  auto const* const owner = owner_of(argument, references.list);
  auto const file = arguments.states.find(argument.name);
  auto const fields = arguments.values.find(argument.name);
  std::vector<std::byte> bytes;
  if (file != arguments.states.end())
    bytes = read_state(argument, file->second, references);
  else if (owner != nullptr)
    bytes = owner->types.default_state;
  if (fields == arguments.values.end()) return bytes;
  if (owner == nullptr)
    fail_usage(
        fmt::format("--set {}: no transform states the fields of its state", argument.name),
        argument.name,
        fmt::format(
            "if the hook reads a state, declare its fields in the .json beside the transform: "
            "\"state\": [{{\"name\": …, \"type\": …}}, …]; else leave out --set {}.…",
            argument.name));
  set_fields(bytes, *owner->types.state, argument.name, fields->second);
  return bytes;
}

// Arrays and values.

constexpr char const* k_state_fields =
    "state the fields of the struct in the .json beside the transform: \"element\": [{\"name\": …, "
    "\"type\": …}, …]";

/// Whether the argument is of a struct of which only the size is known.
bool lacks_fields(plan_argument const& argument, bool is_of_transforms)
{
  return is_of_transforms && argument.type->kind == scalar_kind::bytes;
}

[[noreturn]] void refuse_type(char const* option, plan_argument const& argument,
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
    refuse_type(option, argument, reader, arguments.of_transforms.contains(argument.name));
  return npy_elements(std::move(reader));
}

/// The extents as the plan counts them: an array of any dimensions has a count.
std::vector<std::size_t> extents_for(plan_argument const& argument, element_source const& source)
{
  if (argument.shape.size() == 1) return {source.size()};
  return source.extents();
}

run_array expected_of(plan_argument const& argument, std::string const& file,
                      plan_arguments const& arguments)
{
  std::shared_ptr<element_source const> const source =
      open_array("--expect", argument, file, arguments);
  return {.type = *argument.type, .extents = source->extents(), .elements = source};
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
  std::map<std::string, std::shared_ptr<element_source const>> sources = {};
  detail::array_extents extents = {};
};

input_files open_inputs(launch_plan const& plan, plan_arguments const& arguments)
{
  input_files files{.names = arguments.inputs};
  for (auto const& [name, file] : arguments.inputs) {
    auto const& source = files.sources[name] =
        open_array("--input", *plan.find(name), file, arguments);
    files.extents[name] = extents_for(*plan.find(name), *source);
  }
  return files;
}

/// Argument `index` of `plan`, of its file or generated; its extents are among `known`.
run_array input_of(launch_plan const& plan, std::size_t index, input_files const& files,
                   known_extents const& known, std::uint64_t seed)
{
  auto const& argument = plan.arguments[index];
  auto const& extents = known.at(argument.name);
  auto const elements = segmented_elements(plan, argument.name, known);
  auto const has_offsets =
      elements && detail::is_integer(argument.type->kind) && extents.size() == 1;
  run_array array{.type = *argument.type, .extents = extents};
  if (auto const file = files.sources.find(argument.name); file != files.sources.end()) {
    array.elements = file->second;
    if (has_offsets) check_offsets(files.names.at(argument.name), array.read().view(), *elements);
    return array;
  }
  auto const own_seed = seed_of(seed, index);
  if (has_offsets)
    return held({.type = array.type,
                 .extents = extents,
                 .bytes = generate_offsets(array.type, extents[0], *elements, own_seed)});
  array.elements = finds_runs(plan, argument.name)
                       ? generated_runs(array.type, extents, own_seed)
                       : generated_elements(array.type, extents, own_seed);
  return array;
}

/// Whether it is an input that may be omitted, and is.
bool is_omitted(plan_argument const& argument, input_files const& files)
{
  return argument.default_value && !files.sources.contains(argument.name);
}

/// Adds the inputs whose extents are known.
void add_inputs(run_data& data, plan_formulas const& formulas, input_files const& files,
                std::vector<std::int64_t> const& sizes, generated_inputs const& generated)
{
  auto const& plan = formulas.plan;
  auto const values = detail::compute_without_device(formulas, sizes);
  known_extents known;
  for (std::size_t i = 0; i < plan.arguments.size(); ++i)
    if (!values.extents[i].empty()) known[plan.arguments[i].name] = values.extents[i];
  auto given = files.extents;
  std::erase_if(given, [&](auto const& file) { return !known.contains(file.first); });
  detail::check_extents(formulas, values, given);
  check_memory(plan, known, generated.copies);
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    auto const& argument = plan.arguments[i];
    auto const is_known = known.contains(argument.name);
    if (!argument.shape.empty() && !is_known) data.is_memory_unchecked = true;
    if (argument.role != argument_role::input || is_omitted(argument, files)) continue;
    if (is_known)
      data.inputs[argument.name] = input_of(plan, i, files, known, generated.seed);
    else
      data.of_device.push_back(argument.name);
  }
}

std::string text_of(std::vector<std::size_t> const& extents)
{
  return fmt::format("{}", fmt::join(extents, " x "));
}

}  // namespace

std::vector<element_part> divide(std::size_t count, std::size_t parts)
{
  std::vector<element_part> list;
  for (std::size_t i = 0; i < parts; ++i) {
    auto const begin = begin_of(i, count, parts);
    list.push_back({.first = begin, .count = begin_of(i + 1, count, parts) - begin});
  }
  return list;
}

std::size_t count_of(std::vector<std::size_t> const& extents) noexcept
{
  std::size_t count = 1;
  for (auto const extent : extents) count *= extent;
  return count;
}

std::size_t run_array::count() const noexcept
{
  return count_of(extents);
}

bool run_array::read_pieces(std::size_t bytes,
                            std::function<bool(std::size_t, std::span<std::byte>)> const& use) const
{
  auto const most = std::max<std::size_t>(bytes / type.size, 1);
  std::vector<std::byte> piece;
  for (std::size_t start = 0; start < count(); start += most) {
    piece.resize(std::min(most, count() - start) * type.size);
    fill(start, piece);
    if (!use(start, piece)) return false;
  }
  return true;
}

host_array run_array::read() const
{
  host_array array{.type = type, .extents = extents};
  array.bytes.resize(bytes());
  fill(0, array.bytes);
  return array;
}

run_array run_array::part(std::size_t rows, element_part const& part) const
{
  auto const row = count() / rows;
  auto result = *this;
  result.first += part.first * row;
  if (extents.size() > 1 && extents.front() == rows)
    result.extents.front() = part.count;
  else
    result.extents = {part.count * row};
  return result;
}

run_array held(host_array array)
{
  auto const memory = std::make_shared<host_array const>(std::move(array));
  return {.type = memory->type,
          .extents = memory->extents,
          .elements = std::make_shared<held_elements>(memory),
          .memory = memory};
}

loaded_array::loaded_array(run_array const& array)
    : memory_(array.memory), first_(array.first), extents_(array.extents)
{
  if (memory_ != nullptr) return;
  memory_ = std::make_shared<host_array const>(array.read());
  first_ = 0;
}

array_view loaded_array::view() const noexcept
{
  auto const size = memory_->type.size;
  return {memory_->type,
          std::span(memory_->bytes).subspan(first_ * size, count_of(extents_) * size)};
}

void refuse_elements(std::size_t elements, launch_plan const& plan)
{
  fail_usage(
      fmt::format(
          "--elements {}: there is no size to set: --set or defaults set all sizes of plan {}",
          elements, plan.name),
      "--elements", "leave out --elements");
}

transform_reference const* owner_of(plan_argument const& state,
                                    std::vector<transform_reference> const& transforms)
{
  for (auto const& transform : transforms)
    if (transform.types.state && (state.hook.empty() || transform.find(state.hook) != nullptr))
      return &transform;
  return nullptr;
}

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
    data.expected[name] = expected_of(*plan.find(name), file, arguments);
  for (auto const& argument : plan.arguments)
    if (argument.role == argument_role::value)
      data.values[argument.name] = value_of(argument, arguments);
    else if (argument.role == argument_role::state)
      data.states[argument.name] = state_of(argument, arguments, references);
  sort_inputs(data, plan, arguments.inputs, references.list);
  return data;
}

void add_device_inputs(run_data& data, prepared_plan const& code, plan_arguments const& arguments,
                       generated_inputs const& generated)
{
  if (data.of_device.empty() && !data.is_memory_unchecked) return;
  auto const& plan = code.plan();
  auto const extents = code.extents(size_arguments(data.sizes)).arrays;
  if (std::exchange(data.is_memory_unchecked, false)) check_memory(plan, extents, generated.copies);
  auto const files = open_inputs(plan, arguments);
  for (auto const& name : data.of_device) {
    auto const& needed = extents.at(name);
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
      data.inputs[name] = input_of(plan, index, files, extents, generated.seed);
    else if (earlier->second.extents != needed)
      fail_usage(fmt::format("argument {} has {} elements in this run, but {} in the previous run: "
                             "its size depends on the code or the device",
                             name, text_of(needed), text_of(earlier->second.extents)),
                 name, "run one mode, without --compare-cpu: --mode lto");
  }
}

std::map<std::string, std::int64_t> limited_sizes(launch_plan const& plan, run_data const& data)
{
  auto sizes = data.sizes;
  for (auto const& argument : plan.arguments) {
    auto const limit = data.inputs.find(argument.limit);
    if (limit == data.inputs.end()) continue;
    auto const most = detail::load(scalar_kind::uint64, limit->second.read().bytes.data()).whole;
    auto& size = sizes.at(argument.name);
    if (most < size) size = static_cast<std::int64_t>(most);
  }
  return sizes;
}

run_data within_limits(launch_plan const& plan, run_data data)
{
  auto sizes = limited_sizes(plan, data);
  if (sizes == data.sizes) return data;
  data.sizes = std::move(sizes);
  plan_formulas const formulas(plan);
  std::vector<std::int64_t> numbers;
  for (auto const index : formulas.sizes)
    numbers.push_back(data.sizes.at(plan.arguments[index].name));
  auto const values = detail::compute_without_device(formulas, numbers);
  for (std::size_t i = 0; i < plan.arguments.size(); ++i)
    if (auto const input = data.inputs.find(plan.arguments[i].name);
        input != data.inputs.end() && !values.extents[i].empty())
      input->second.extents = values.extents[i];
  return data;
}

}  // namespace fatlink::cli
