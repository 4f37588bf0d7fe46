// SPDX-License-Identifier: Apache-2.0
#include "run/execute_plan.hpp"

#include <map>
#include <string>
#include <utility>

#include "fatlink/prepare.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {
namespace {

using device_bytes = device_buffer<std::byte>;

/// The device's copies of what a run reads and writes, by argument.
using device_arrays = std::map<std::string, device_bytes>;

void upload(device_arrays& arrays, device const& destination, std::string const& name,
            std::vector<std::byte> const& bytes)
{
  auto buffer = destination.allocate<std::byte>(bytes.size());
  buffer.write(bytes);
  arrays.insert_or_assign(name, std::move(buffer));
}

device_arrays upload_all(device const& destination, run_data const& data)
{
  device_arrays arrays;
  for (auto const& [name, array] : data.inputs) upload(arrays, destination, name, array.bytes);
  for (auto const& [name, bytes] : data.states)
    if (!bytes.empty()) upload(arrays, destination, name, bytes);
  return arrays;
}

std::size_t count_of(std::vector<std::size_t> const& extents)
{
  std::size_t count = 1;
  for (auto const extent : extents) count *= extent;
  return count;
}

/// Arrays of bytes 0xFF, NaN as floats, so that elements that are not written show.
void add_outputs(device_arrays& arrays, device const& destination, launch_plan const& plan,
                 plan_extents const& extents)
{
  for (auto const& argument : plan.arguments) {
    if (argument.role != argument_role::output) continue;
    auto const count = count_of(extents.arrays.at(argument.name));
    auto buffer = destination.allocate<std::byte>(buffer_bytes(count, argument.type->size));
    buffer.fill(std::byte{0xFF});
    arrays.insert_or_assign(argument.name, std::move(buffer));
  }
}

std::vector<call_argument> size_arguments(run_data const& data)
{
  std::vector<call_argument> arguments;
  for (auto const& [name, size] : data.sizes) arguments.emplace_back(name, size);
  return arguments;
}

std::vector<call_argument> call_arguments(launch_plan const& plan, run_data const& data,
                                          device_arrays const& arrays)
{
  auto arguments = size_arguments(data);
  for (auto const& argument : plan.arguments) {
    auto const array = arrays.find(argument.name);
    if (argument.role == argument_role::value)
      arguments.push_back(call_argument::of_bytes(argument.name, *argument.type,
                                                  data.values.at(argument.name).bytes));
    else if (array != arrays.end() && argument.role == argument_role::state)
      arguments.emplace_back(argument.name, array->second.data());
    else if (array != arrays.end())
      arguments.push_back(call_argument::of_array(argument.name, *argument.type,
                                                  array->second.address(),
                                                  array->second.size() / argument.type->size));
  }
  return arguments;
}

std::map<std::string, host_array> download(launch_plan const& plan, plan_extents const& extents,
                                           device_arrays const& arrays)
{
  std::map<std::string, host_array> outputs;
  for (auto const& argument : plan.arguments) {
    if (argument.role != argument_role::output) continue;
    auto const& buffer = arrays.at(argument.name);
    host_array array{.type = *argument.type, .extents = extents.arrays.at(argument.name)};
    array.bytes.resize(buffer.size());
    buffer.read(array.bytes);
    outputs.emplace(argument.name, std::move(array));
  }
  return outputs;
}

}  // namespace

mode_result execute_plan(device const& destination, launch_plan const& plan,
                         std::vector<input> const& inputs, run_data const& data,
                         linked_image const& image)
{
  detail::stopwatch watch;
  auto const code = prepare(destination, plan, inputs, image);
  auto const load_ms = watch.lap();
  auto const extents = code.extents(size_arguments(data));
  auto arrays = upload_all(destination, data);
  add_outputs(arrays, destination, plan, extents);
  auto stream = destination.create_stream();
  auto start = destination.create_event();
  auto stop = destination.create_event();
  start.record(stream);
  code.run(stream, call_arguments(plan, data, arrays));
  stop.record(stream);
  stream.synchronize();
  return {.image = image,
          .load_ms = load_ms,
          .run_ms = stop.ms_since(start),
          .outputs = download(plan, extents, arrays),
          .depths = extents.depths};
}

}  // namespace fatlink::cli
