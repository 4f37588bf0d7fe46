// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_call_state.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "device/misuse.hpp"
#include "plan/check_call.hpp"
#include "plan/find_sizes.hpp"
#include "plan/launch_limits.hpp"
#include "plan/null_states.hpp"
#include "plan/overlap.hpp"
#include "plan/plan_error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

std::size_t aligned(std::size_t bytes)
{
  return (bytes + k_scratch_alignment - 1) / k_scratch_alignment * k_scratch_alignment;
}

}  // namespace

plan_call_state::plan_call_state(plan_program const& program)
    : program_(program),
      given_(program.formulas.plan.arguments.size()),
      sizes_(program.formulas.sizes.size()),
      has_size_(program.formulas.sizes.size()),
      addresses_(given_.size()),
      values_(given_.size())
{
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (auto const& type = program.argument(i).type; type && !program.is_array(i))
      values_[i].resize(std::max(type->size, sizeof(std::int64_t)));
  computed_.launches.resize(program.formulas.launches.size());
  for (std::size_t i = 0; i < computed_.launches.size(); ++i)
    computed_.launches[i].arguments.resize(program.formulas.launches[i].arguments.size());
  point_at_values();
}

/// The places that parameters are read from do not move from call to call.
void plan_call_state::point_at_values()
{
  for (std::size_t i = 0; i < computed_.launches.size(); ++i) {
    std::vector<void*> pointers;
    auto const& arguments = program_.formulas.plan.launches[i].arguments;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      auto const index = program_.find(arguments[k].argument);
      if (arguments[k].argument.empty() || !index)
        pointers.push_back(&computed_.launches[i].arguments[k]);
      else if (values_[*index].empty())
        pointers.push_back(&addresses_[*index]);
      else
        pointers.push_back(values_[*index].data());
    }
    pointers_.push_back(std::move(pointers));
  }
}

void plan_call_state::match(std::span<call_argument const> arguments)
{
  std::ranges::fill(given_, nullptr);
  std::fill(has_size_.begin(), has_size_.end(), false);
  std::ranges::fill(addresses_, 0);
  for (auto const& given : arguments) {
    auto const index = program_.find(given.name());
    if (!index) fail_unknown_argument(program_.formulas.plan, given.name());
    if (given_[*index] != nullptr) fail_argument(given.name(), "is given twice", "give it once");
    given_[*index] = &given;
    if (program_.argument(*index).role == argument_role::size) set_size(*index, given);
  }
}

void plan_call_state::set_size(std::size_t index, call_argument const& given)
{
  auto const value = integer_of(program_.argument(index), given);
  sizes_[program_.size_numbers[index]] = value;
  has_size_[program_.size_numbers[index]] = true;
}

void plan_call_state::set_value(std::size_t index, call_argument const& given)
{
  auto const& argument = program_.argument(index);
  if (argument.role == argument_role::scratch)
    fail_argument(given.name(), "is scratch memory, which is not an argument of a call",
                  "pass it as scratch_memory, or let the call allocate it");
  if (argument.role != argument_role::value) {
    check_array_argument(argument, given);
    addresses_[index] = given.address();
  } else if (is_integer(*argument.type)) {
    auto const value = integer_of(argument, given);
    std::memcpy(values_[index].data(), &value, sizeof value);
  } else {
    check_value_argument(argument, given);
    std::memcpy(values_[index].data(), given.value(), argument.type->size);
  }
}

void plan_call_state::use_defaults()
{
  for (std::size_t i = 0; i < given_.size(); ++i) {
    auto const& argument = program_.argument(i);
    if (given_[i] != nullptr || argument.role == argument_role::size ||
        argument.role == argument_role::scratch || argument.role == argument_role::state)
      continue;
    if (program_.defaults[i].empty()) fail_missing_argument(program_.formulas.plan, argument);
    std::ranges::copy(program_.defaults[i], values_[i].begin());
  }
}

/// Takes the sizes that the extents of arrays state. Returns false if sizes are missing, or if an
/// array conflicts: find_sizes then reports it.
bool plan_call_state::find_stated_extents()
{
  for (std::size_t i = 0; i < given_.size(); ++i) {
    auto const size = program_.extent_sizes[i];
    if (!size || given_[i] == nullptr || !given_[i]->has_count()) continue;
    auto const count = given_[i]->count();
    auto const& type = program_.argument(program_.formulas.sizes[*size]).type;
    if (count > std::numeric_limits<std::int64_t>::max()) return false;
    auto const value = program_.formulas.shapes[i][0].solve(static_cast<std::int64_t>(count));
    if (!value || (type && !fits(*value, *type)) || (has_size_[*size] && sizes_[*size] != *value))
      return false;
    sizes_[*size] = *value;
    has_size_[*size] = true;
  }
  return std::find(has_size_.begin(), has_size_.end(), false) == has_size_.end();
}

/// The sizes that are not given follow from the arrays whose sizes are known. Slower for arrays of
/// several dimensions, for defaults and for errors: it works with names.
void plan_call_state::find_missing_sizes()
{
  if (std::find(has_size_.begin(), has_size_.end(), false) == has_size_.end()) return;
  if (find_stated_extents()) return;
  for (std::size_t k = 0; k < has_size_.size(); ++k)
    has_size_[k] = given_[program_.formulas.sizes[k]] != nullptr;
  array_extents arrays;
  stated_sizes stated;
  for (std::size_t i = 0; i < given_.size(); ++i) {
    if (given_[i] == nullptr) continue;
    if (program_.argument(i).role == argument_role::size)
      stated[program_.argument(i).name] = sizes_[program_.size_numbers[i]];
    else if (given_[i]->has_count() && program_.argument(i).shape.size() == 1)
      arrays[program_.argument(i).name] = {given_[i]->count()};
  }
  sizes_ = find_sizes(program_.formulas, arrays, stated, [](std::string const& size) {
    return detail::format("pass {{\"{}\", N}}", size);
  });
}

void plan_call_state::check_arrays() const
{
  for (std::size_t i = 0; i < given_.size(); ++i)
    if (given_[i] != nullptr && program_.is_array(i))
      check_array_size(program_.argument(i), *given_[i], computed_.counts[i]);
}

void plan_call_state::check_overlaps() const
{
  for (std::size_t i = 0; i < given_.size(); ++i) {
    if (program_.argument(i).role != argument_role::output) continue;
    for (std::size_t k = 0; k < given_.size(); ++k) {
      auto const role = program_.argument(k).role;
      auto const is_other = role == argument_role::input || role == argument_role::state ||
                            (role == argument_role::output && k < i);
      if (is_other)
        check_overlap(program_.argument(i), place_of(i), program_.argument(k), place_of(k));
    }
  }
}

/// Of an input, an output or a state that the caller gives. At least a byte of a state whose size
/// is not known.
array_place plan_call_state::place_of(std::size_t index) const
{
  auto const& argument = program_.argument(index);
  if (argument.role != argument_role::state)
    return {addresses_[index], computed_.counts[index] * argument.type->size};
  if (given_[index] == nullptr || addresses_[index] == 0) return {};
  auto const& given = *given_[index];
  auto const bytes = given.has_count() ? given.count() * given.element_bytes() : 0;
  return {addresses_[index], std::max<std::size_t>(bytes, 1)};
}

void plan_call_state::set(std::span<call_argument const> arguments)
{
  match(arguments);
  for (std::size_t i = 0; i < given_.size(); ++i)
    if (given_[i] != nullptr && program_.argument(i).role != argument_role::size)
      set_value(i, *given_[i]);
  use_defaults();
  find_missing_sizes();
  compute_values(program_.formulas, sizes_, program_.facts, computed_);
  for (auto const index : program_.formulas.sizes)
    std::memcpy(values_[index].data(), &sizes_[program_.size_numbers[index]], sizeof(std::int64_t));
  check_arrays();
  check_overlaps();
}

void plan_call_state::set_sizes(std::span<call_argument const> arguments)
{
  match(arguments);
  find_missing_sizes();
  compute_values(program_.formulas, sizes_, program_.facts, computed_);
}

std::size_t plan_call_state::scratch_bytes() const
{
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < given_.size(); ++i) {
    auto const& argument = program_.argument(i);
    if (argument.role != argument_role::scratch) continue;
    if (__builtin_add_overflow(bytes, aligned(computed_.counts[i] * argument.type->size), &bytes))
      fail_plan(program_.formulas.plan.file, detail::format("arguments[{}]", i),
                detail::format("the scratch arrays up to {} have more than 2^63 - 1 bytes",
                               argument.name),
                "use smaller sizes");
  }
  return static_cast<std::size_t>(bytes);
}

void plan_call_state::check_scratch(scratch_memory const& scratch) const
{
  auto const needed = scratch_bytes();
  detail::check_scratch(scratch.address, scratch.bytes, needed);
  for (std::size_t i = 0; i < given_.size(); ++i) {
    auto const& argument = program_.argument(i);
    if (argument.role == argument_role::input || argument.role == argument_role::output ||
        argument.role == argument_role::state)
      check_scratch_overlap({scratch.address, needed}, argument, place_of(i));
  }
}

plan_extents plan_call_state::extents() const
{
  plan_extents result;
  for (std::size_t i = 0; i < given_.size(); ++i)
    if (program_.is_array(i)) result.arrays[program_.argument(i).name] = computed_.extents[i];
  auto const& results = program_.formulas.plan.results;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].depth)
      result.depths[results[i].output] = compute_depth(program_.formulas, i, computed_);
  return result;
}

void plan_call_state::set_scratch(device_address address)
{
  for (std::size_t i = 0; i < given_.size(); ++i) {
    if (program_.argument(i).role != argument_role::scratch) continue;
    addresses_[i] = address;
    address += aligned(computed_.counts[i] * program_.argument(i).type->size);
  }
}

std::vector<std::string> plan_call_state::null_states() const
{
  std::vector<std::string> names;
  for (std::size_t i = 0; i < given_.size(); ++i)
    if (program_.argument(i).role == argument_role::state && addresses_[i] == 0)
      names.push_back(program_.argument(i).name);
  return names;
}

void plan_call_state::launch(stream_view stream) const
try {
  for (std::size_t i = 0; i < pointers_.size(); ++i) {
    auto const& values = computed_.launches[i];
    if (!values.is_made()) continue;
    program_.kernels[i].launch_raw(stream,
                                   {.grid = {values.grid[0], values.grid[1], values.grid[2]},
                                    .block = {values.block[0], values.block[1], values.block[2]},
                                    .shared_bytes = static_cast<unsigned>(values.shared_bytes),
                                    .overlap = overlaps(program_.formulas.plan, computed_, i)},
                                   pointers_[i]);
  }
} catch (device_error const& failure) {
  rethrow_with_states(failure, null_states());
}

}  // namespace fatlink::detail
