// SPDX-License-Identifier: Apache-2.0
// A summary of comparing one output with expected values, of any element type. NaN agrees only with
// NaN, an infinity only with itself or with expected values that round to it. Threads: values.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/components.hpp"
#include "verification/operand_program.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink {

/// The element whose error is the largest part of its bound, or infinitely more than it; among
/// these the one with the largest error.
struct worst_element {
  std::size_t index = 0;
  std::string component = {};  ///< the field; empty: the element is one number
  std::string expected = {};
  std::string actual = {};
  double error = 0;  ///< absolute; infinite where no bound accepts it
  double ratio = 0;  ///< to the bound
};

/// operator+= adds the summary of other elements of the same output.
struct output_verification {
  std::string method = {};   ///< how expected values and bounds were computed, for people
  std::string reason = {};   ///< why nothing was compared; empty: it was
  bool lacks_hook = false;   ///< that is because no transform states what a hook computes
  std::size_t elements = 0;  ///< how many were compared
  std::size_t failures = 0;  ///< elements that are off by more than the bound
  /// Elements with a number whose bound exceeds the range of its type: every finite value would be
  /// accepted.
  std::size_t unbounded = 0;
  double max_abs_error = 0;  ///< over finite pairs
  /// The largest error divided by its bound; infinite for a bound of 0, and where a NaN or an
  /// wrong.
  double max_ratio = 0;
  /// The bound in spacings (ULP), if it is nothing else; empty: it has other parts.
  std::optional<double> tolerance_ulp = {};
  /// The largest error, in spacings, of floats with a bound of 0; infinite where a NaN is
  /// wrong.
  double exact_ulp = 0;

  std::size_t first_failure = 0;  ///< index, valid when failures > 0, as all that follow
  std::string component = {};     ///< the field; empty: the element is one number
  std::string expected = {};
  std::string actual = {};
  double bound = 0;
  std::optional<worst_element> worst = {};  ///< empty: no element failed, or it is not known

  /// Whether the output was compared and every element was within its bound.
  [[nodiscard]] bool verified() const noexcept { return reason.empty() && failures == 0; }
  /// The largest error in spacings, if the bound is stated in them only.
  [[nodiscard]] std::optional<double> max_ulp() const noexcept;
  output_verification& operator+=(output_verification const& other);
};

/// Compares element by element: each number may differ by the largest of `tolerance`'s three, with
/// spacings and magnitudes at the expected value. Arrays of bytes are compared bytewise.
/// Nothing but a reason if types or counts differ.
output_verification compare_outputs(array_view const& expected, array_view const& actual,
                                    hook_tolerance const& tolerance);

/// Adds a failure for each element that is missing or too many where `expected` elements should be:
/// they follow those that `result` compared. Then there is no reason any more.
void compare_lengths(output_verification& result, std::size_t expected, std::size_t actual);

namespace detail {

/// Records one element after the other.
class output_comparison {
 public:
  output_comparison(array_view const& actual, components const& parts);

  /// Compares element `index` with numbers that may be off by `bounds`.
  void compare(std::size_t index, number const* expected, double const* bounds);
  /// Compares element `index` with the element at `expected`, which has the same type, exactly:
  /// NaNs and the sign of 0 too. Padding does not count.
  void compare_exactly(std::size_t index, std::byte const* expected);

  [[nodiscard]] output_verification summary() const;

 private:
  struct mismatch {
    std::size_t part = 0;
    number expected = {};
    number actual = {};
    double bound = 0;
    bool is_wrong = false;
    std::size_t index = 0;  ///< of the element; as what follows only in worst_
    double error = 0;
    double ratio = 0;
  };
  /// What is known of the numbers of a component.
  struct number_range {
    bool is_whole = false;  ///< integers and bytes
    double range = 0;       ///< a power of two that exceeds every number
    double overflow = 0;    ///< the least real number that rounds to infinity

    /// How far `actual` is from `expected`; infinite where no bound can cover it.
    [[nodiscard]] double distance(number const& expected, number const& actual) const noexcept;
    /// Whether every finite number is within `bound` of `expected`.
    [[nodiscard]] bool accepts_all(number const& expected, double bound) const noexcept;
  };
  bool is_missing(std::size_t index);
  /// Adds a difference to the largest.
  void note(double distance, double bound);
  /// Adds a difference where the bound is 0.
  void note_exact(std::size_t part, number const* expected, double distance);
  void record(std::size_t index, mismatch const& first);
  void note_worst(mismatch const& wrong);

  array_view const& actual_;
  components const& parts_;
  std::vector<number_range> ranges_ = {};  ///< of each component
  output_verification summary_;
  mismatch worst_;
};

}  // namespace detail
}  // namespace fatlink
