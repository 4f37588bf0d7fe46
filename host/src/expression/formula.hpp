// SPDX-License-Identifier: Apache-2.0
// Formulas of launch plans: "min(occupancy(k) * multiprocessors, ceil(n / 8192))", expressions
// (expression/syntax.hpp) of signed integers of 64 bits; an overflow is an error. "/" rounds down,
// and up within ceil(a / b); it and "%" take numbers that are not negative. Of "a ? b : c", "a &&
// b" and "a || b" only what the value depends on is evaluated. A formula is parsed once, to a list
// of instructions for a stack. Threads: values; evaluate from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expression/functions.hpp"
#include "expression/words.hpp"

namespace fatlink::detail {

/// What a name in a formula stands for.
struct formula_symbol {
  bool is_constant = false;
  std::int64_t value = 0;  ///< the constant, or the index of the value that evaluate() is given
};

/// The names that a formula may use, with calls of sizeof and occupancy as they are written without
/// spaces: "n", "multiprocessors", "sizeof(in)", "occupancy(reduce_tiles)".
using formula_symbols = std::map<std::string, formula_symbol, std::less<>>;

class formula {
 public:
  /// The number 0.
  formula() = default;

  /// @throws expression_error the text is no formula, or uses a name that is not in `symbols`.
  formula(std::string text, formula_symbols const& symbols);

  /// `values`: for every symbol that is no constant, at its index; they are not checked.
  /// @throws expression_error an overflow, a division by zero or of a negative number.
  [[nodiscard]] std::int64_t evaluate(std::int64_t const* values) const
  {
    if (program_.size() > 1) return run(values);
    auto const& only = program_.front();
    return only.code == expression_code::number ? only.value : values[only.value];
  }

  /// As it was written.
  [[nodiscard]] std::string const& text() const noexcept { return text_; }
  /// The indices of the values that it uses, ascending, each once; none for a constant.
  [[nodiscard]] std::vector<std::size_t> const& uses() const noexcept { return uses_; }
  /// Whether it is nothing but a name that is no constant: uses()[0].
  [[nodiscard]] bool is_name() const noexcept;
  /// The value of uses()[0] for which the formula is `result`, where it is that name, or the name
  /// plus, minus or times a number: 4 for "n + 1" and 5. Nothing for other formulas, and where no
  /// such value is a whole number of 64 bits.
  [[nodiscard]] std::optional<std::int64_t> solve(std::int64_t result) const noexcept;

  /// For a stack. Of the codes that are no operators:
  ///   number            pushes `value`
  ///   name              pushes values[value]
  ///   call              divides, and rounds up: ceil(a / b) is the only call
  ///   after_choice      goes on at instruction `value`
  ///   after_condition   pops; goes on at instruction `value` if it was 0
  struct instruction {
    expression_code code = expression_code::number;
    std::uint32_t place = 1;  ///< the character of the operator in the text, from 1
    std::int64_t value = 0;
  };

 private:
  std::int64_t run(std::int64_t const* values) const;

  std::string text_ = "0";
  std::vector<instruction> program_ = {instruction{}};
  std::vector<std::size_t> uses_ = {};
};

}  // namespace fatlink::detail
