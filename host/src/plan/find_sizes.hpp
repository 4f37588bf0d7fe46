// SPDX-License-Identifier: Apache-2.0
// The sizes of a plan, from those that a caller states and from the extents of the arrays that it
// has. Units: elements. Threads: no shared state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plan/plan_values.hpp"

namespace fatlink::detail {

/// Extents by the name of an argument, slowest first: {"image", {480, 640}}.
using array_extents = std::map<std::string, std::vector<std::size_t>, std::less<>>;
/// Sizes by name.
using stated_sizes = std::map<std::string, std::int64_t, std::less<>>;
/// How a caller gives the size of this name.
using size_remedy = std::string (*)(std::string const& size);

/// "give its value, as in n=N", which the command line shows as an option.
std::string remedy_by_name(std::string const& size);

/// The sizes of the plan in the order of formulas.sizes. A size follows from an array of which an
/// extent is the size, or the size plus, minus or times a number: n of "count": "n + 1", not of
/// "ceil(n / 2)". One that is neither stated nor follows has its default.
/// @throws usage_error `stated` or `arrays` name no size or array of the plan; an array of another
///   number of dimensions; a size out of the range of its type; two values of one size (names both
///   arguments, what is expected and what is given); a size without value, with
///   `remedy` as the hint.
std::vector<std::int64_t> find_sizes(plan_formulas const& formulas, array_extents const& arrays,
                                     stated_sizes const& stated,
                                     size_remedy remedy = remedy_by_name);

/// @throws usage_error an array does not have the extents that `values` computed; names it, the
///   formula, what is expected and what is given.
void check_extents(plan_formulas const& formulas, plan_values const& values,
                   array_extents const& arrays);

}  // namespace fatlink::detail
