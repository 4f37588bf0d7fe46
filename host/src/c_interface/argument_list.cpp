// SPDX-License-Identifier: Apache-2.0
#include "c_interface/argument_list.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "c_interface/enumerations.hpp"
#include "c_interface/struct_size.hpp"
#include "device/misuse.hpp"
#include "util/text/format.hpp"

namespace fatlink::c {
namespace {

/// Bytes of a number; 0 of bytes and records, which have no size of their own.
constexpr std::array<std::size_t, 16> k_scalar_bytes{2, 2, 4, 8, 1, 2,  4, 8,
                                                     1, 2, 4, 8, 8, 16, 0, 0};

[[noreturn]] void fail_member(std::string_view name, std::string const& cause,
                              std::string const& hint)
{
  detail::fail_use(detail::format("argument {} {}", name, cause), std::string(name), hint);
}

/// All structs have the size of the first one, because an array of them has one stride.
fatlink_argument read_argument(fatlink_argument const* arguments, std::size_t index)
{
  auto const* const first = reinterpret_cast<std::byte const*>(arguments);
  auto const stride = arguments->size;
  check_size(stride, k_first_size<fatlink_argument>, "arguments[0]");
  std::size_t size = 0;
  std::memcpy(&size, first + index * stride, sizeof size);
  if (size != stride)
    detail::fail_use(detail::format("the size of arguments[{}] is {}; that of arguments[0] is {}",
                                    index, size, stride),
                     "arguments",
                     "set the member size of all arguments to sizeof(fatlink_argument)");
  auto const argument =
      read_struct<fatlink_argument>(first + index * stride, size, "an entry of arguments");
  if (argument.name == nullptr) fail_null(detail::format("arguments[{}].name", index));
  if (!is_scalar(argument.scalar))
    fail_member(argument.name,
                detail::format("has the scalar {}, which is not a constant of fatlink_scalar",
                               argument.scalar),
                "pass a constant of fatlink_scalar");
  return argument;
}

/// Of an element or of the value; 0: not stated.
std::size_t bytes_of(fatlink_argument const& argument, std::optional<scalar_kind> kind)
{
  auto const stated = argument.element_bytes;
  auto const own = kind ? k_scalar_bytes.at(static_cast<std::size_t>(*kind)) : 0;
  if (stated == 0 || own == 0) return std::max(stated, own);
  if (stated != own)
    fail_member(
        argument.name,
        detail::format("has elements of {} bytes; {} has {}", stated, to_string(*kind), own),
        "leave element_bytes 0, or set it to the size of the type");
  return stated;
}

/// The type that the plan states for the value, if it has the same size; else bytes.
scalar_kind kind_in_plan(fatlink_argument const& argument, launch_plan const* plan)
{
  if (plan == nullptr) return scalar_kind::bytes;
  auto const match = std::ranges::find(plan->arguments, argument.name, &plan_argument::name);
  auto const is_known =
      match != plan->arguments.end() && match->type && match->type->size == argument.element_bytes;
  return is_known ? match->type->kind : scalar_kind::bytes;
}

/// What calls look at.
element_type type_of(scalar_kind kind, std::size_t size)
{
  element_type type;
  type.kind = kind;
  type.size = size;
  return type;
}

call_argument make_array(fatlink_argument const& argument)
{
  auto const kind = read_scalar(argument.scalar);
  auto const bytes = bytes_of(argument, kind);
  if (kind && bytes == 0)
    fail_member(argument.name, "is an array of elements of an unknown size",
                "set element_bytes, or leave scalar unstated for an array of any type");
  auto const type = type_of(kind.value_or(scalar_kind::bytes), bytes);
  return argument.count == UINT64_MAX
             ? call_argument::of_array(argument.name, type, argument.address)
             : call_argument::of_array(argument.name, type, argument.address, argument.count);
}

call_argument make_value(fatlink_argument const& argument, launch_plan const* plan)
{
  if (argument.address != 0)
    fail_member(argument.name, "has both an address and a value",
                "set address for an array, or value for a size or value");
  auto const kind = read_scalar(argument.scalar);
  auto const bytes = bytes_of(argument, kind);
  if (bytes == 0)
    fail_member(argument.name, "is a value of an unknown size", "set element_bytes or scalar");
  auto const type = type_of(kind ? *kind : kind_in_plan(argument, plan), bytes);
  return call_argument::of_bytes(argument.name, type,
                                 {static_cast<std::byte const*>(argument.value), bytes});
}

}  // namespace

bool has_unstated_value(fatlink_argument const* arguments, std::size_t count)
{
  (void)list(arguments, count, "arguments");
  for (std::size_t i = 0; i < count; ++i) {
    auto const argument = read_argument(arguments, i);
    if (argument.value != nullptr && argument.scalar == FATLINK_SCALAR_UNSTATED) return true;
  }
  return false;
}

argument_list::argument_list(fatlink_argument const* arguments, std::size_t count,
                             launch_plan const* plan)
{
  (void)list(arguments, count, "arguments");
  arguments_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) add(read_argument(arguments, i), plan);
}

argument_list::argument_list(fatlink_argument const* arguments, std::size_t count,
                             launch_plan const* plan, array_exchange& exchange,
                             void* const* objects)
{
  (void)list(arguments, count, "arguments");
  (void)list(objects, count, "objects");
  arguments_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto const argument = read_argument(arguments, i);
    if (objects[i] == nullptr)
      add(argument, plan);
    else
      arguments_.push_back(exchange.read(argument, objects[i]));
  }
}

void argument_list::add(fatlink_argument const& argument, launch_plan const* plan)
{
  arguments_.push_back(argument.value == nullptr ? make_array(argument)
                                                 : make_value(argument, plan));
}

}  // namespace fatlink::c
