// SPDX-License-Identifier: Apache-2.0
// Verifies the outputs of a launch plan against what its "computes" and the transforms' references
// state, in double (integers: exactly), with a bound for each number of each element. The bounds,
// their assumptions and their derivation are in docs/verification.md:
//   map, argument, index, neighbor  the hook's tolerance at the expected value, and what errors of
//                                   inner maps change in the outer hook
//   fold, scan, exclusive_scan,     by the transform's error model: exact, additive, relative;
//   segmented_fold                  integers exactly
//   filter, rejected, sort, count   exactly the elements, in order; sort: stable
//   histogram                       exactly, but for elements that the hook's tolerance puts beside
//                                   another bin
// All cores work on one output. Memory: for each core a few kilobytes; sort: 16 bytes for each
// element, and 16 more for its keys. Threads: a plan_reference may be used by several threads.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/launch_plan.hpp"
#include "verification/operand_program.hpp"
#include "verification/output_verification.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink {

/// An expected element, valid during a call of the visitor only.
struct expected_element {
  std::size_t thread = 0;  ///< which of detail::thread_count() and 1 threads calls
  std::size_t index = 0;
  detail::number const* values = nullptr;  ///< one for each of detail::components_of(the type)
  double const* bounds = nullptr;
  /// The element that the result is a copy of, to the last bit; null: it is computed.
  std::byte const* copied = nullptr;
};
using expected_visitor = std::function<void(expected_element const&)>;

namespace detail {
/// Whether an element is computed by calls in a row, whose errors add up.
bool accumulates(operation kind) noexcept;
}  // namespace detail

class plan_reference {
 public:
  /// `transforms`: the references of the inputs whose hooks are called, those of the library's
  /// default definitions last. `data`'s arrays must outlive the object.
  plan_reference(launch_plan plan, std::vector<transform_reference> transforms, plan_data data);

  /// Compares an output, which has the type and the count of the run's array; of an output with a
  /// length the elements that are results, and it is wrong to have more of them. A reason where
  /// "computes" does not name it, a hook has no reference, or a fold no error model.
  /// @throws file_error (invalid-sidecar) a reference does not fit the plan's types.
  [[nodiscard]] output_verification verify(std::string_view output, array_view const& actual) const;

  /// As verify() for several results of one output, which have one type and count: expected values
  /// are computed once. `compares_two`: also compares the first two with each other, as
  /// verify_between() does; that is the last of the summaries.
  [[nodiscard]] std::vector<output_verification> verify_each(std::string_view output,
                                                             std::span<array_view const> results,
                                                             bool compares_two = false) const;

  /// Compares two results of one output, for instance of two link modes: each may be off by its
  /// bound, so they may differ by twice as much. As verify().
  [[nodiscard]] output_verification verify_between(std::string_view output, array_view const& first,
                                                   array_view const& second) const;

  /// The first `most` expected elements of an output like `actual`, as text; of structs as
  /// "{value: 1, index: 2}". Empty where there is a reason. @throws as verify().
  [[nodiscard]] std::vector<std::string> expected_text(std::string_view output,
                                                       array_view const& actual,
                                                       std::size_t most) const;

 private:
  [[nodiscard]] plan_result const& find(std::string_view output) const;
  /// Visits the expected elements of an output of this type and count; every thread its own in
  /// order. @throws detail::not_verifiable.
  void visit(plan_result const& result, array_view const& actual,
             expected_visitor const& visitor) const;
  [[nodiscard]] std::string method_of(plan_result const& result) const;
  /// The tolerance in spacings, if the bound of an output of this type is nothing else.
  [[nodiscard]] std::optional<double> ulp_tolerance(plan_result const& result,
                                                    detail::components const& parts) const;

  launch_plan plan_;
  std::vector<transform_reference> transforms_;
  plan_data data_;
};

}  // namespace fatlink
