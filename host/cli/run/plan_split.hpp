// SPDX-License-Identifier: Apache-2.0
// How the arrays of a launch plan are divided among several devices, by what "computes" states.
//
// A plan can be divided if every output is
//   map(f, a, …), also nested    each device makes its part of the output from its part of a, …
//   count(p, a), histogram(…)    each device counts in its part, and the counts are added
// and all arrays `a` have the same size as their slowest extent, which is the one that is divided.
// Other inputs are copied to every device. What depends on the index, on neighbors, or on the order
// of elements (scan, sort, filter, …) is not divided, nor are folds: a library folds with the
// initial value, which must count once.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "fatlink/launch_plan.hpp"
#include "run/element_part.hpp"
#include "run/plan_data.hpp"

namespace fatlink::cli {

struct plan_split {
  std::string size = {};               ///< the name of the size that is divided
  std::set<std::string> divided = {};  ///< inputs and outputs of which each device has a part
  std::set<std::string> added = {};    ///< outputs whose elements are added
};

/// @throws usage_error the plan cannot be divided; the message names the output or argument and
///   the reason.
plan_split split_of(launch_plan const& plan);

/// The data of each of `parts`; the parts of inputs are removed from `whole`.
/// @throws usage_error an input or an array of --expect is not divisible as the plan is.
std::vector<run_data> divide_data(launch_plan const& plan, plan_split const& split, run_data& whole,
                                  std::vector<element_part> const& parts);

}  // namespace fatlink::cli
