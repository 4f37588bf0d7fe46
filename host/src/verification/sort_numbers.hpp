// SPDX-License-Identifier: Apache-2.0
// Sorts of numbers by their value, without evaluating the hook: of 2^28 elements in seconds.
// Threads: no shared state.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "verification/operand_program.hpp"

namespace fatlink::detail {

/// The elements of `source` in the order of `hook`; equal ones, such as 0 and -0, keep theirs.
/// Nothing where `hook` is another expression than a < b or a > b in its two parameters, or its
/// only parameter or the negative of it, or an element is a struct, a complex number, bytes without
/// meaning or NaN.
std::optional<std::vector<std::byte>> sort_numbers(hook_reference const& hook,
                                                   array_view const& source);

}  // namespace fatlink::detail
