// SPDX-License-Identifier: Apache-2.0
// The error for a link helper that is missing or does not start.
#pragma once

#include <string>

namespace fatlink::detail {

constexpr char const* k_helper_program = "fatlink-linkd";

/// Reports that the helper cannot be used: `cause`, for `input`, with the error's `code` and
/// `hint`. An empty `hint` says where to install the helper.
/// @throws unavailable_error always.
[[noreturn]] void fail_without_helper(std::string const& cause, std::string const& input,
                                      std::string const& code = {}, std::string const& hint = {});

}  // namespace fatlink::detail
