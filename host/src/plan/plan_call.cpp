// SPDX-License-Identifier: Apache-2.0
#include "fatlink/plan_call.hpp"

namespace fatlink {
namespace {

/// Structs are passed as bytes: kind_of() knows numbers only.
scalar_kind kind_in_call(element_type const& type) noexcept
{
  return type.kind == scalar_kind::record ? scalar_kind::bytes : type.kind;
}

}  // namespace

call_argument call_argument::of_bytes(std::string_view name, element_type const& type,
                                      std::span<std::byte const> value)
{
  call_argument argument(name, nullptr);
  argument.is_array_ = false;
  argument.kind_ = kind_in_call(type);
  argument.element_bytes_ = value.size();
  if (value.size() <= k_inline_bytes)
    std::memcpy(argument.inline_.data(), value.data(), value.size());
  else
    argument.outside_ = value.data();
  return argument;
}

call_argument call_argument::of_array(std::string_view name, element_type const& type,
                                      device_address address, std::size_t count)
{
  auto argument = of_array(name, type, address);
  argument.count_ = count;
  argument.has_count_ = true;
  return argument;
}

call_argument call_argument::of_array(std::string_view name, element_type const& type,
                                      device_address address)
{
  call_argument argument(name, nullptr);
  argument.kind_ = kind_in_call(type);
  argument.element_bytes_ = type.size;
  argument.address_ = address;
  return argument;
}

}  // namespace fatlink
