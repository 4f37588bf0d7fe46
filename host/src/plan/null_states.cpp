// SPDX-License-Identifier: Apache-2.0
#include "plan/null_states.hpp"

#include "util/text/format.hpp"

namespace fatlink::detail {

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

}  // namespace fatlink::detail
