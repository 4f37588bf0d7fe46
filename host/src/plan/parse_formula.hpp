// SPDX-License-Identifier: Apache-2.0
// Parses the text of a formula to instructions; formula.hpp has the grammar. Threads: no state.
#pragma once

#include <string_view>
#include <vector>

#include "plan/formula.hpp"

namespace fatlink::detail {

/// Values that the instructions of a formula have on the stack at a time, at most: four for each
/// level of nesting (two of a sum, one of a comparison, one of min or max), and those of the
/// innermost.
constexpr std::size_t k_formula_stack = 264;

/// @throws formula_error as formula::formula.
std::vector<formula::instruction> parse_formula(std::string_view text,
                                                formula_symbols const& symbols);

}  // namespace fatlink::detail
