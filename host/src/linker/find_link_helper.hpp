// SPDX-License-Identifier: Apache-2.0
// What is said where the link helper (find_link_helper) is missing or does not start.
#pragma once

#include <string>

namespace fatlink::detail {

/// @throws unavailable_error `why`, of `input`, and where the helper belongs.
[[noreturn]] void fail_without_helper(std::string const& why, std::string const& input);

}  // namespace fatlink::detail
