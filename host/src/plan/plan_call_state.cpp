// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_call_state.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/device_checks.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/plan_call.hpp"
#include "plan/plan_formulas.hpp"
#include "plan/plan_values.hpp"
#include "util/process/tool_range.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

/// The start of scratch memory, and of each array in it, is a multiple of this; cudaMalloc's is.
constexpr std::size_t k_scratch_alignment = 256;  // bytes

/// @throws usage_error "argument NAME CAUSE".
[[noreturn]] void fail_argument(std::string_view name, std::string const& cause, std::string hint)
{
  fail_use(detail::format("argument {} {}", name, cause), std::string(name), std::move(hint));
}

std::string argument_text(call_argument const& given)
{
  auto const is_bytes = given.kind() == scalar_kind::bytes;
  auto const type = is_bytes ? detail::format("{} bytes", given.element_bytes())
                             : std::string(to_string(given.kind()));
  return given.is_array() ? "an array of " + type : is_bytes ? "a struct of " + type : type;
}

std::string argument_text(plan_argument const& argument)
{
  if (argument.role == argument_role::state) return "a pointer to the state";
  auto const type = argument.type ? to_string(*argument.type) : "bytes";
  return argument.shape.empty() ? type : "an array of " + type;
}

[[noreturn]] void fail_type(plan_argument const& argument, call_argument const& given)
{
  fail_argument(
      argument.name,
      detail::format("is {}; {} was given", argument_text(argument), argument_text(given)),
      "pass an object of the type that the plan states");
}

/// Whether `given` may be an element of `type`: the same number, or bytes of the same size.
bool has_type(element_type const& type, call_argument const& given)
{
  if (given.element_bytes() == 0) return true;  // void*
  if (given.element_bytes() != type.size) return false;
  return given.kind() == scalar_kind::bytes || type.kind == scalar_kind::bytes ||
         given.kind() == type.kind || type.kind == scalar_kind::record;
}

template <typename Number>
Number number_of(call_argument const& given)
{
  Number number;
  std::memcpy(&number, given.value(), sizeof number);
  return number;
}

std::int64_t signed_of(call_argument const& given)
{
  switch (given.element_bytes()) {
    case 1:
      return number_of<std::int8_t>(given);
    case 2:
      return number_of<std::int16_t>(given);
    case 4:
      return number_of<std::int32_t>(given);
    default:
      return number_of<std::int64_t>(given);
  }
}

std::uint64_t unsigned_of(call_argument const& given)
{
  switch (given.element_bytes()) {
    case 1:
      return number_of<std::uint8_t>(given);
    case 2:
      return number_of<std::uint16_t>(given);
    case 4:
      return number_of<std::uint32_t>(given);
    default:
      return number_of<std::uint64_t>(given);
  }
}

[[noreturn]] void fail_range(plan_argument const& argument, std::string const& value)
{
  fail_argument(argument.name,
                detail::format("is {}; {} is out of its range", to_string(*argument.type), value),
                "pass a value in the range of the type");
}

/// A state has no type of its own.
void check_alignment(plan_argument const& argument, call_argument const& given)
{
  auto const own = argument.type ? argument.type->alignment : 1;
  auto const bytes = std::max(own, argument.alignment);
  if (given.address() % bytes == 0) return;
  fail_argument(
      argument.name,
      detail::format(
          "is at address {:#x}, which is not a multiple of {} bytes, the alignment {}",
          given.address(), bytes,
          argument.alignment > own ? "that the plan states" : "of " + to_string(*argument.type)),
      detail::format("pass memory of cudaMalloc, at a multiple of {} bytes from its start", bytes));
}

[[noreturn]] void fail_unknown_argument(launch_plan const& plan, std::string_view name)
{
  std::vector<std::string> names;
  for (auto const& argument : plan.arguments)
    if (argument.role != argument_role::scratch) names.push_back(argument.name);
  auto const similar = nearest(names, std::string(name));
  fail_argument(name, detail::format("is unknown to plan {}", plan.name),
                similar.empty() ? detail::format("see the arguments in {}", plan.file)
                                : detail::format("did you mean {}?", similar));
}

[[noreturn]] void fail_missing_argument(launch_plan const& plan, plan_argument const& argument)
{
  fail_argument(argument.name,
                detail::format("of plan {} is missing: {}, {}", plan.name, to_string(argument.role),
                               argument_text(argument)),
                detail::format("pass {{\"{}\", …}}", argument.name));
}

/// The whole number that is given, in the range of the argument's type.
std::int64_t integer_of(plan_argument const& argument, call_argument const& given)
{
  if (given.is_array() || given.kind() < scalar_kind::int8 || given.kind() > scalar_kind::uint64)
    fail_type(argument, given);
  if (given.kind() >= scalar_kind::uint8) {
    auto const value = unsigned_of(given);
    if (!std::in_range<std::int64_t>(value) &&
        !(argument.role == argument_role::value && argument.type->kind == scalar_kind::uint64))
      fail_range(argument, std::to_string(value));
    if (std::in_range<std::int64_t>(value) &&
        !fits(static_cast<std::int64_t>(value), *argument.type))
      fail_range(argument, std::to_string(value));
    return static_cast<std::int64_t>(value);
  }
  auto const value = signed_of(given);
  if (!fits(value, *argument.type)) fail_range(argument, std::to_string(value));
  return value;
}

/// A value that is no integer: its type, or for bytes and structs its size.
void check_value_argument(plan_argument const& argument, call_argument const& given)
{
  if (given.is_array() || !has_type(*argument.type, given)) fail_type(argument, given);
}

/// An array or a state: the type of its elements and its alignment.
void check_array_argument(plan_argument const& argument, call_argument const& given)
{
  if (!given.is_array() || (argument.type && !has_type(*argument.type, given)))
    fail_type(argument, given);
  check_alignment(argument, given);
}

/// An array of at least `count` elements, not at the null address.
void check_array_size(plan_argument const& argument, call_argument const& given, std::size_t count)
{
  if (given.has_count() && given.count() < count)
    fail_argument(argument.name,
                  detail::format("has {} elements; the plan needs {}", given.count(), count),
                  "pass a larger buffer, or smaller sizes");
  if (given.address() == 0 && count != 0)
    fail_argument(argument.name, "is a null pointer", "pass the address of an array");
}

/// Whether the kernels take a null pointer for it.
bool may_be_null(plan_argument const& argument)
{
  return argument.role == argument_role::state ||
         (argument.role == argument_role::input && argument.default_value);
}

bool are_disjoint(array_place const& a, array_place const& b) noexcept
{
  return a.bytes == 0 || b.bytes == 0 || a.address + a.bytes <= b.address ||
         b.address + b.bytes <= a.address;
}

/// Two arrays are disjoint, or are the same where the plan allows it.
void check_overlap(plan_argument const& output, array_place const& output_place,
                   plan_argument const& other, array_place const& other_place)
{
  if (are_disjoint(output_place, other_place)) return;
  auto const allows = [](plan_argument const& argument, std::string const& name) {
    return std::ranges::find(argument.may_overlap, name) != argument.may_overlap.end();
  };
  auto const is_allowed = allows(output, other.name) || allows(other, output.name);
  if (is_allowed && output_place.address == other_place.address) return;
  fail_argument(output.name,
                is_allowed
                    ? detail::format("overlaps {} and is not the same array", other.name)
                    : detail::format("overlaps {}, which the plan does not allow", other.name),
                "pass arrays that do not overlap");
}

/// `bytes` of the caller's memory for scratch arrays that take `needed` bytes.
void check_scratch(device_address address, std::size_t bytes, std::size_t needed)
{
  if (bytes < needed)
    fail_argument("scratch", detail::format("has {} bytes; the plan needs {}", bytes, needed),
                  "pass as many bytes as scratch_bytes() returns");
  if (address == 0 && needed != 0)
    fail_argument("scratch", "is a null pointer", "pass the address of device memory");
  if (address % k_scratch_alignment != 0)
    fail_argument("scratch",
                  detail::format("is at address {:#x}, which is not a multiple of {} bytes",
                                 address, k_scratch_alignment),
                  "pass memory of cudaMalloc, from its start");
}

/// Scratch memory shares nothing with an array or a state.
void check_scratch_overlap(array_place const& scratch, plan_argument const& argument,
                           array_place const& place)
{
  if (are_disjoint(scratch, place)) return;
  fail_argument("scratch", detail::format("overlaps {}", argument.name),
                "pass memory that no argument of the call uses");
}

constexpr unsigned k_first_with_wait = 90;  // PTX ISA: griddepcontrol needs sm_90

bool waits(std::string const& kernel, std::span<fatbin const> modules, entry_choice const& choice)
{
  auto has_kernel = false;
  for (auto const& module : modules) {
    auto const& kernels = interface_of(module, choice).kernels;
    if (std::ranges::find(kernels, kernel, &ptx_function::name) == kernels.end()) continue;
    auto const* const entry = linked_entry(module, choice);
    if (entry == nullptr || entry->target.number() < k_first_with_wait) return false;
    has_kernel = true;
  }
  return has_kernel;
}

}  // namespace

void clear_unsafe_overlaps(launch_plan& plan, std::span<fatbin const> modules,
                           entry_choice const& choice)
{
  for (auto& launch : plan.launches)
    launch.overlap = launch.overlap && waits(launch.kernel, modules, choice);
}

bool overlaps(launch_plan const& plan, plan_values const& values, std::size_t index)
{
  auto const earlier = std::span(values.launches).first(index);
  return plan.launches[index].overlap &&
         (plan.launches.front().overlap ||
          std::ranges::any_of(earlier, [](auto const& launch) { return launch.is_made(); }));
}

void rethrow_with_states(device_error const& failure, std::span<std::string const> null_states)
{
  auto details = failure.details();
  auto const is_null = details.code == error_code::illegal_address &&
                       details.message.find("a null pointer") != std::string::npos;
  if (!is_null || null_states.empty()) throw failure;
  std::string names;
  for (auto const& name : null_states) names += (names.empty() ? "" : ", ") + name;
  details.hint = detail::format(
      "if the transform needs a state ({}), <pass the address of its bytes>; otherwise {}", names,
      details.hint);
  throw device_error(failure.where(), details);
}

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
        argument.role == argument_role::scratch || may_be_null(argument))
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
  tool_range const range(program_.range_name.c_str());
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
