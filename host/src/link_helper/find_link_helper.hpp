// SPDX-License-Identifier: Apache-2.0
// What is said where the link helper (find_link_helper) is missing or does not start.
#pragma once

#include <string>

namespace fatlink::detail {

/// @throws unavailable_error `cause`, of `input`, with the error's `code` and `hint`; an empty
/// hint:
///   where the helper belongs.
[[noreturn]] void fail_without_helper(std::string const& cause, std::string const& input,
                                      std::string const& code = {}, std::string const& hint = {});

}  // namespace fatlink::detail
