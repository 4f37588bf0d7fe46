// SPDX-License-Identifier: Apache-2.0
#include "plan/read_default.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "plan/launch_limits.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

void check_integer(json_place const& place, element_type const& type)
{
  auto const& value = place.value();
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    if (type.kind == scalar_kind::uint64) return;
  } else if (value.is_number_integer() && fits(value.get<std::int64_t>(), type)) {
    return;
  }
  place.fail(detail::format("{} is not a value of {}", value.dump(), to_string(type)),
             "write a whole number in the range of the type");
}

void check_real(json_place const& place)
{
  auto const& value = place.value();
  if (value.is_number()) return;
  if (value.is_string() && (value == "inf" || value == "-inf" || value == "nan")) return;
  place.fail(detail::format("{} is not a number", value.dump()),
             R"(write a number, or "inf", "-inf" or "nan")");
}

void check_complex(json_place const& place)
{
  if (place.value().is_number()) return;
  if (!place.value().is_array() || place.value().size() != 2)
    place.fail("is not a complex number",
               "write the real and the imaginary part: [1, 0], or a number");
  for (auto const& part : place.elements(2)) check_real(part);
}

void check_number(json_place const& place, element_type const& type)
{
  if (is_integer(type))
    check_integer(place, type);
  else if (type.kind == scalar_kind::complex64 || type.kind == scalar_kind::complex128)
    check_complex(place);
  else
    check_real(place);
}

void check_record(json_place const& place, element_type const& type)
{
  std::vector<std::string> names;
  for (auto const& field : type.fields) names.push_back(field.name);
  place.check_keys(names);
  for (auto const& field : type.fields) check_number(place.member(field.name.c_str()), field.type);
}

/// Of a type that is not known yet.
void check_any(json_place const& place)
{
  if (place.value().is_object())
    for (auto const& [name, member] : place.members(limits::k_plan_parts)) {
      if (member.value().is_array())
        check_complex(member);
      else
        check_real(member);
    }
  else if (place.value().is_array())
    check_complex(place);
  else
    check_real(place);
}

}  // namespace

std::string read_default(json_place const& place, plan_argument const& argument)
{
  if (!argument.type)
    check_any(place);
  else if (argument.type->kind == scalar_kind::record)
    check_record(place, *argument.type);
  else if (argument.type->kind == scalar_kind::bytes)
    place.fail("bytes without meaning have no default", "remove it, or state a struct type");
  else
    check_number(place, *argument.type);
  if (argument.role == argument_role::size && !place.value().is_number_integer())
    place.fail("a size is a whole number", "write a whole number");
  if (argument.role == argument_role::size && place.value().is_number_unsigned() &&
      place.value().get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    place.fail("is above 2^63 - 1", "write a smaller size");
  return place.value().dump();
}

}  // namespace fatlink::detail
