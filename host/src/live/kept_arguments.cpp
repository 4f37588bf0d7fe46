// SPDX-License-Identifier: Apache-2.0
#include "live/kept_arguments.hpp"

namespace fatlink::detail {

kept_arguments::kept_arguments(std::span<call_argument const> arguments)
{
  for (auto const& argument : arguments) {
    names_.emplace_back(argument.name());
    void const* value = nullptr;
    if (argument.has_outside_value()) {
      auto const* const bytes = static_cast<std::byte const*>(argument.value());
      value = values_.emplace_back(bytes, bytes + argument.element_bytes()).data();
    }
    arguments_.push_back(argument.with_storage(names_.back(), value));
  }
}

}  // namespace fatlink::detail
