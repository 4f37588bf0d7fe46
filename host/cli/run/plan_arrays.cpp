// SPDX-License-Identifier: Apache-2.0
#include "run/plan_arrays.hpp"

#include <utility>

#include "run/cut_outputs.hpp"

namespace fatlink::cli {
namespace {

std::size_t count_of(std::vector<std::size_t> const& extents)
{
  std::size_t count = 1;
  for (auto const extent : extents) count *= extent;
  return count;
}

}  // namespace

std::vector<call_argument> size_arguments(run_data const& data)
{
  std::vector<call_argument> arguments;
  for (auto const& [name, size] : data.sizes) arguments.emplace_back(name, size);
  return arguments;
}

plan_arrays::plan_arrays(device const& destination, launch_plan const& plan, run_data const& data,
                         plan_extents const& extents, std::byte unwritten)
    : plan_(plan), data_(data), extents_(extents)
{
  for (auto const& [name, array] : data.inputs) upload(destination, name, array.bytes);
  for (auto const& [name, bytes] : data.states)
    if (!bytes.empty()) upload(destination, name, bytes);
  for (auto const& argument : plan.arguments)
    if (argument.role == argument_role::output) add_output(destination, argument, unwritten);
}

void plan_arrays::upload(device const& destination, std::string const& name,
                         std::vector<std::byte> const& bytes)
{
  auto buffer = destination.allocate<std::byte>(bytes.size());
  buffer.write(bytes);
  arrays_.insert_or_assign(name, std::move(buffer));
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
  auto arguments = size_arguments(data_);
  for (auto const& argument : plan_.arguments) {
    auto const array = arrays_.find(argument.name);
    if (argument.role == argument_role::value)
      arguments.push_back(call_argument::of_bytes(argument.name, *argument.type,
                                                  data_.values.at(argument.name).bytes));
    else if (array != arrays_.end() && argument.role == argument_role::state)
      arguments.emplace_back(argument.name, array->second.data());
    else if (array != arrays_.end())
      arguments.push_back(call_argument::of_array(argument.name, *argument.type,
                                                  array->second.address(),
                                                  array->second.size() / argument.type->size));
  }
  return arguments;
}

std::map<std::string, host_array> plan_arrays::read_outputs() const
{
  std::map<std::string, host_array> outputs;
  for (auto const& argument : plan_.arguments) {
    if (argument.role != argument_role::output) continue;
    auto const& buffer = arrays_.at(argument.name);
    host_array array{.type = *argument.type, .extents = extents_.arrays.at(argument.name)};
    array.bytes.resize(buffer.size());
    buffer.read(array.bytes);
    outputs.emplace(argument.name, std::move(array));
  }
  cut_outputs(plan_, data_.sizes, outputs);
  return outputs;
}

}  // namespace fatlink::cli
