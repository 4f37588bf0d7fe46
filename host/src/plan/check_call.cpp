// SPDX-License-Identifier: Apache-2.0
#include "plan/check_call.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "device/misuse.hpp"
#include "plan/launch_limits.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

std::string describe(call_argument const& given)
{
  auto const is_bytes = given.kind() == scalar_kind::bytes;
  auto const type = is_bytes ? detail::format("{} bytes", given.element_bytes())
                             : std::string(to_string(given.kind()));
  return given.is_array() ? "an array of " + type : is_bytes ? "a struct of " + type : type;
}

std::string describe(plan_argument const& argument)
{
  if (argument.role == argument_role::state) return "a pointer to the state";
  auto const type = argument.type ? to_string(*argument.type) : "bytes";
  return argument.shape.empty() ? type : "an array of " + type;
}

[[noreturn]] void fail_type(plan_argument const& argument, call_argument const& given)
{
  fail_argument(argument.name,
                detail::format("is {}; {} was given", describe(argument), describe(given)),
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

}  // namespace

void fail_argument(std::string_view name, std::string const& cause, std::string hint)
{
  fail_use(detail::format("argument {} {}", name, cause), std::string(name), std::move(hint));
}

void fail_unknown_argument(launch_plan const& plan, std::string_view name)
{
  std::vector<std::string> names;
  for (auto const& argument : plan.arguments)
    if (argument.role != argument_role::scratch) names.push_back(argument.name);
  auto const similar = nearest(names, std::string(name));
  fail_argument(name, detail::format("is unknown to plan {}", plan.name),
                similar.empty() ? detail::format("see the arguments in {}", plan.file)
                                : detail::format("did you mean {}?", similar));
}

void fail_missing_argument(launch_plan const& plan, plan_argument const& argument)
{
  fail_argument(argument.name,
                detail::format("of plan {} is missing: {}, {}", plan.name, to_string(argument.role),
                               describe(argument)),
                detail::format("pass {{\"{}\", …}}", argument.name));
}

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

void check_value_argument(plan_argument const& argument, call_argument const& given)
{
  if (given.is_array() || !has_type(*argument.type, given)) fail_type(argument, given);
}

void check_array_argument(plan_argument const& argument, call_argument const& given)
{
  if (!given.is_array() || (argument.type && !has_type(*argument.type, given)))
    fail_type(argument, given);
  check_alignment(argument, given);
}

void check_array_size(plan_argument const& argument, call_argument const& given, std::size_t count)
{
  if (given.has_count() && given.count() < count)
    fail_argument(argument.name,
                  detail::format("has {} elements; the plan needs {}", given.count(), count),
                  "pass a larger buffer, or smaller sizes");
  if (given.address() == 0 && count != 0)
    fail_argument(argument.name, "is a null pointer", "pass the address of an array");
}

namespace {

bool are_disjoint(array_place const& a, array_place const& b) noexcept
{
  return a.bytes == 0 || b.bytes == 0 || a.address + a.bytes <= b.address ||
         b.address + b.bytes <= a.address;
}

}  // namespace

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

void check_scratch_overlap(array_place const& scratch, plan_argument const& argument,
                           array_place const& place)
{
  if (are_disjoint(scratch, place)) return;
  fail_argument("scratch", detail::format("overlaps {}", argument.name),
                "pass memory that no argument of the call uses");
}

}  // namespace fatlink::detail
