// SPDX-License-Identifier: Apache-2.0
// How the arrays of a launch plan are divided, among several devices and into the parts that are
// compared at a time, by what "computes" states.
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
#include "run/run_data.hpp"

namespace fatlink::cli {

struct plan_split {
  std::string size = {};               ///< the name of the size that is divided
  std::string limit = {};              ///< the input that may limit it; empty: none
  std::set<std::string> divided = {};  ///< inputs and outputs of which each device has a part
  std::set<std::string> added = {};    ///< outputs whose elements are added
  /// Why the plan cannot be divided; names the output or argument. Empty: it can.
  std::string refusal = {};

  /// Whether every result depends on the inputs in its own row only, so that results are compared
  /// part by part.
  [[nodiscard]] bool is_by_rows() const noexcept { return refusal.empty() && added.empty(); }
};

/// How the arrays of `plan` are divided.
plan_split split_of(launch_plan const& plan);

/// @throws usage_error the plan cannot be divided.
void require_divisible(launch_plan const& plan, plan_split const& split);

/// Before a division among devices. @throws usage_error an array of --expect is not divisible as
/// the plan is.
void check_expected(plan_split const& split, run_data const& data);

/// The data of a part of the rows.
run_data part_of(run_data const& whole, plan_split const& split, element_part const& part);

}  // namespace fatlink::cli
