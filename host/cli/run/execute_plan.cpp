// SPDX-License-Identifier: Apache-2.0
#include "run/execute_plan.hpp"

#include <algorithm>
#include <csignal>
#include <limits>
#include <optional>
#include <utility>

#include "plan/components.hpp"
#include "plan/plan_formulas.hpp"
#include "util/files/output_file.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"

namespace fatlink::cli {
namespace {

constexpr std::size_t k_piece = std::size_t{16} << 20;         // bytes; copied at a time
constexpr std::size_t k_piece_on_host = std::size_t{4} << 20;  // beside arrays of the device

/// An array that has elements of `type`; they are elsewhere.
class remote_elements : public element_source {
 public:
  remote_elements(element_type type, std::vector<std::size_t> extents)
      : type_(std::move(type)), extents_(std::move(extents))
  {
  }
  [[nodiscard]] element_type const& type() const noexcept final { return type_; }
  [[nodiscard]] std::vector<std::size_t> const& extents() const noexcept final { return extents_; }
  [[nodiscard]] std::size_t size() const noexcept final { return count_of(extents_); }

 private:
  element_type type_;
  std::vector<std::size_t> extents_;
};

/// In a device's memory.
class device_elements final : public remote_elements {
 public:
  device_elements(element_type type, std::vector<std::size_t> extents,
                  device_buffer<std::byte> buffer)
      : remote_elements(std::move(type), std::move(extents)), buffer_(std::move(buffer))
  {
  }
  void fill(std::size_t start, std::span<std::byte> bytes) const override
  {
    buffer_.read(bytes, start * type().size);
  }

 private:
  device_buffer<std::byte> buffer_;
};

/// In an unnamed file of $TMPDIR, to save memory.
class file_elements final : public remote_elements {
 public:
  /// The file is empty. Where the folder holds no such file, append() returns false.
  explicit file_elements(run_array const& array)
      : remote_elements(array.type, array.extents),
        folder_(detail::scratch_folder()),
        file_(detail::open_scratch(folder_))
  {
  }
  /// Whether all `bytes` are written after the others: not if the file system is full.
  bool append(std::span<std::byte const> bytes) noexcept
  {
    detail::signal_guard const file_limit(SIGXFSZ);
    return file_.get() >= 0 && detail::write_all(file_.get(), bytes);
  }
  void fill(std::size_t start, std::span<std::byte> bytes) const override
  {
    if (detail::read_at(file_, start * type().size, bytes, folder_)) return;
    throw file_error(stage::verification,
                     {.message = detail::format("{}: a temporary file ends before the results",
                                                folder_.string()),
                      .input = folder_.string(),
                      .code = error_code::unreadable_file,
                      .hint = "set TMPDIR to a folder on a disk that works"});
  }

 private:
  std::filesystem::path folder_;
  detail::descriptor file_;
};

// The length of outputs of which the launches determine how many elements are results.

using integer_values = std::map<std::string, detail::int128>;

/// The outputs that hold one integer.
integer_values held_integers(launch_plan const& plan,
                             std::map<std::string, host_array> const& outputs)
{
  integer_values values;
  for (auto const& argument : plan.arguments) {
    if (!detail::holds_length(argument)) continue;
    auto const& array = outputs.at(argument.name);
    values[argument.name] = detail::load(array.type.kind, array.bytes.data()).whole;
  }
  return values;
}

bool is_in_range(detail::int128 value)
{
  return value <= std::numeric_limits<std::int64_t>::max();
}

/// The plan without the outputs whose integer exceeds the range of formulas: a formula that uses
/// one has no value.
launch_plan without_large(launch_plan plan, integer_values const& held)
{
  std::erase_if(plan.arguments, [&](plan_argument const& argument) {
    auto const place = held.find(argument.name);
    return place != held.end() && !is_in_range(place->second);
  });
  return plan;
}

/// Why the length of `output` is not one: its value, if it is the integer of another output.
std::string describe_length(plan_argument const& output, std::optional<std::int64_t> length,
                            integer_values const& held)
{
  if (length) return std::to_string(*length);
  auto const place = held.find(output.length);
  if (place == held.end()) return "the formula has no value";
  return detail::to_text(scalar_kind::uint64, detail::whole_number(place->second));
}

/// Returns whether `length` is a number of elements of `array`.
bool cut(host_array& array, std::optional<std::int64_t> length)
{
  if (!length || *length < 0 || static_cast<std::uint64_t>(*length) > array.count()) return false;
  array.bytes.resize(static_cast<std::size_t>(*length) * array.type.size);
  array.extents = {static_cast<std::size_t>(*length)};
  return true;
}

/// Cuts each output that states a length to its first elements, which are the results. Of an output
/// whose length is negative or larger than the array, which stays as it is: what the length is.
std::map<std::string, std::string> cut_outputs(launch_plan const& plan,
                                               std::map<std::string, std::int64_t> const& sizes,
                                               std::map<std::string, host_array>& outputs)
{
  auto const held = held_integers(plan, outputs);
  auto const known = without_large(plan, held);
  std::map<std::string, std::string> wrong_lengths;
  auto values = sizes;
  for (auto const& [name, value] : held)
    if (is_in_range(value)) values[name] = static_cast<std::int64_t>(value);
  for (auto const& argument : plan.arguments) {
    if (argument.length.empty()) continue;
    auto const length = detail::compute_length(known, argument, values);
    auto& array = outputs.at(argument.name);
    if (!cut(array, length)) wrong_lengths[argument.name] = describe_length(argument, length, held);
  }
  return wrong_lengths;
}

/// Whether one call after the other has the results of the first: on a GPU the second one is
/// measured, as the time of the first includes loading code to the multiprocessors.
bool can_be_repeated(device const& destination, run_data const& data, bool is_by_rows)
{
  return destination.info().kind == device_kind::gpu && is_by_rows && data.states.empty();
}

}  // namespace

std::vector<call_argument> size_arguments(std::map<std::string, std::int64_t> const& sizes)
{
  std::vector<call_argument> arguments;
  for (auto const& [name, size] : sizes) arguments.emplace_back(name, size);
  return arguments;
}

std::size_t piece_bytes(device_kind kind) noexcept
{
  return kind == device_kind::cpu ? k_piece_on_host : k_piece;
}

plan_arrays::plan_arrays(device const& destination, launch_plan const& plan, run_data const& data,
                         plan_extents const& extents, std::byte unwritten,
                         device_arrays* shared_inputs)
    : plan_(plan),
      data_(data),
      extents_(extents),
      inputs_(shared_inputs == nullptr ? own_inputs_ : *shared_inputs)
{
  for (auto const& [name, array] : data.inputs)
    if (!inputs_.contains(name)) upload(destination, name, array);
  for (auto const& [name, bytes] : data.states) {
    if (bytes.empty()) continue;
    auto buffer = destination.allocate<std::byte>(bytes.size());
    buffer.write(bytes);
    arrays_.insert_or_assign(name, std::move(buffer));
  }
  for (auto const& argument : plan.arguments)
    if (argument.role == argument_role::output) add_output(destination, argument, unwritten);
}

void plan_arrays::upload(device const& destination, std::string const& name, run_array const& array)
{
  auto buffer = destination.allocate<std::byte>(array.bytes());
  array.read_pieces(piece_bytes(destination.info().kind),
                    [&](std::size_t start, std::span<std::byte> piece) {
                      buffer.write(piece, start * array.type.size);
                      return true;
                    });
  inputs_.insert_or_assign(name, std::move(buffer));
}

void plan_arrays::add_output(device const& destination, plan_argument const& argument,
                             std::byte unwritten)
{
  auto const count = count_of(extents_.arrays.at(argument.name));
  auto buffer = destination.allocate<std::byte>(buffer_bytes(count, argument.type->size));
  buffer.fill(unwritten);
  arrays_.insert_or_assign(argument.name, std::move(buffer));
}

std::vector<call_argument> plan_arrays::arguments() const
{
  auto arguments = size_arguments(data_.sizes);
  for (auto const& argument : plan_.arguments) {
    auto const& arrays = argument.role == argument_role::input ? inputs_ : arrays_;
    auto const array = arrays.find(argument.name);
    if (argument.role == argument_role::value)
      arguments.push_back(call_argument::of_bytes(argument.name, *argument.type,
                                                  data_.values.at(argument.name).bytes));
    else if (array != arrays.end() && argument.role == argument_role::state)
      arguments.emplace_back(argument.name, array->second.data());
    else if (array != arrays.end())
      arguments.push_back(call_argument::of_array(argument.name, *argument.type,
                                                  array->second.address(),
                                                  array->second.size() / argument.type->size));
  }
  return arguments;
}

std::map<std::string, run_array> plan_arrays::read_outputs(plan_extents const& results) const
{
  std::map<std::string, host_array> arrays;
  for (auto const& argument : plan_.arguments) {
    if (argument.role != argument_role::output) continue;
    auto const& buffer = arrays_.at(argument.name);
    host_array array{.type = *argument.type, .extents = results.arrays.at(argument.name)};
    array.bytes.resize(count_of(array.extents) * array.type.size);
    buffer.read(array.bytes);
    arrays.emplace(argument.name, std::move(array));
  }
  auto const wrong_lengths = cut_outputs(plan_, limited_sizes(plan_, data_), arrays);
  std::map<std::string, run_array> outputs;
  for (auto& [name, array] : arrays) outputs.emplace(name, held(std::move(array)));
  for (auto const& [name, length] : wrong_lengths) outputs.at(name).wrong_length = length;
  return outputs;
}

std::map<std::string, run_array> plan_arrays::outputs_on_device(plan_extents const& results) const
{
  std::map<std::string, run_array> outputs;
  for (auto const& argument : plan_.arguments) {
    if (argument.role != argument_role::output) continue;
    auto const& extents = results.arrays.at(argument.name);
    outputs[argument.name] = {.type = *argument.type,
                              .extents = extents,
                              .elements = std::make_shared<device_elements>(
                                  *argument.type, extents, arrays_.at(argument.name))};
  }
  return outputs;
}

void set_aside(run_array& array)
{
  auto file = std::make_shared<file_elements>(array);
  if (array.read_pieces(k_piece_on_host, [&](std::size_t, std::span<std::byte> piece) {
        return file->append(piece);
      }))
    array.elements = std::move(file);
}

mode_result execute_plan(device const& destination, prepared_plan const& code, run_data const& data,
                         execution_options const& options)
{
  auto const extents = code.extents(size_arguments(data.sizes));
  plan_arrays const arrays(destination, code.plan(), data, extents, options.unwritten,
                           options.inputs);
  auto stream = destination.create_stream();
  auto start = destination.create_event();
  auto stop = destination.create_event();
  auto const arguments = arrays.arguments();
  mode_result result{
      .image = code.image(), .unwritten = options.unwritten, .depths = extents.depths};
  auto const run = [&] {
    result.measured.begin = std::chrono::steady_clock::now();
    start.record(stream);
    code.run(stream, arguments);
    stop.record(stream);
    stream.synchronize();
    result.measured.end = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(result.measured.end - result.measured.begin)
        .count();
  };
  auto const is_repeated = can_be_repeated(destination, data, options.is_by_rows);
  if (is_repeated) result.launch_ms = run();
  if (options.before_launch) options.before_launch();
  auto const measured_ms = run();
  if (!is_repeated) result.launch_ms = measured_ms;
  result.run_ms = stop.ms_since(start);
  auto const results = code.extents(size_arguments(limited_sizes(code.plan(), data)));
  result.outputs =
      options.is_by_rows ? arrays.outputs_on_device(results) : arrays.read_outputs(results);
  return result;
}

}  // namespace fatlink::cli
