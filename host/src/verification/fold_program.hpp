// SPDX-License-Identifier: Apache-2.0
// Folds elements with a hook in double and bounds the error of any other order of its calls.
// docs/verification.md derives the bounds. A hook that adds is replaced by sums of two doubles;
// others are called pairwise, so that the reference itself is off by the logarithm of the count
// only. The order of the elements is kept. Threads: a program is used by one thread at a time.
#pragma once

#include <cstddef>
#include <vector>

#include "verification/operand_program.hpp"

namespace fatlink::detail {

/// The fold of some elements in a row; vectors have an item for each number of an element.
struct partial {
  std::size_t count = 0;               ///< elements; 0: the vectors mean nothing
  std::vector<number> value = {};      ///< the fold
  std::vector<double> low = {};        ///< of sums: what `value` lacks of the exact sum
  std::vector<double> magnitude = {};  ///< Σ|x|
  std::vector<double> error = {};      ///< Σ of the elements' bounds
  std::vector<double> largest = {};    ///< the largest of them
  std::vector<double> relative = {};   ///< Σ of bound / |x|
};

class fold_program {
 public:
  /// For elements and results of `parts`.
  /// @throws not_verifiable parts with floats and no error model. @throws file_error as
  ///   hook_program.
  fold_program(stated_hook const& stated, components const& parts,
               std::span<std::byte const> state);

  /// Sets `result` to one element with the bounds of its numbers.
  void start(partial& result, number const* value, double const* bounds) const;
  /// Sets `result` to the fold of `result` and of the elements after it. Nothing where `later` has
  /// no elements.
  void combine(partial& result, partial const& later);

  /// The bound of number `index` after `calls` calls of the hook, of which at most `depth` are in a
  /// row; `reference_depth`: calls in a row in the reference itself.
  [[nodiscard]] double bound(partial const& result, std::size_t index, double calls, double depth,
                             double reference_depth) const;

  [[nodiscard]] components const& parts() const noexcept { return parts_; }
  [[nodiscard]] bool adds() const noexcept { return hook_.adds(); }

 private:
  void add(partial& result, partial const& later) const;

  components parts_;
  hook_program hook_;
  error_model model_;
  std::vector<number> result_;
};

/// Folds elements that come one after the other: 16 in a row, then in a binary tree.
class pairwise_fold {
 public:
  explicit pairwise_fold(fold_program& program) : program_(program), levels_(64) {}
  void push(number const* value, double const* bounds);
  /// The fold of all; the object is then empty.
  partial finish();

 private:
  void carry();

  fold_program& program_;
  std::vector<partial> levels_;  ///< level i: of 16·2^i elements, or empty
  partial leaf_ = {};
  partial next_ = {};
};

/// The most calls in a row that pairwise_fold makes for `count` elements.
double pairwise_depth(std::size_t count) noexcept;

}  // namespace fatlink::detail
