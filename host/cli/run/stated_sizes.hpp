// SPDX-License-Identifier: Apache-2.0
// The sizes of a plan that --set and --elements state.
#pragma once

#include "plan/find_sizes.hpp"
#include "plan/plan_formulas.hpp"
#include "run/plan_arguments.hpp"
#include "run/plan_data.hpp"

namespace fatlink::cli {

/// Of --set. @throws usage_error a value is no whole number, or above 2^63 - 1.
detail::stated_sizes stated_sizes_of(detail::plan_formulas const& formulas,
                                     plan_arguments const& arguments);

/// --elements is the value of the first size that neither an array nor --set states.
/// @throws usage_error there is none.
void add_generated_size(detail::plan_formulas const& formulas, detail::array_extents const& arrays,
                        detail::stated_sizes& sizes, generated_inputs const& generated);

}  // namespace fatlink::cli
