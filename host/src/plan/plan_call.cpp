// SPDX-License-Identifier: Apache-2.0
#include "fatlink/plan_call.hpp"

namespace fatlink {

call_argument call_argument::of_bytes(std::string_view name, element_type const& type,
                                      std::span<std::byte const> value)
{
  call_argument argument(name, nullptr);
  argument.is_array_ = false;
  argument.kind_ = type.kind == scalar_kind::record ? scalar_kind::bytes : type.kind;
  argument.element_bytes_ = value.size();
  if (value.size() <= k_inline_bytes)
    std::memcpy(argument.inline_.data(), value.data(), value.size());
  else
    argument.outside_ = value.data();
  return argument;
}

}  // namespace fatlink
