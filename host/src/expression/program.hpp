// SPDX-License-Identifier: Apache-2.0
// An expression (expression/syntax.hpp) of a reference, compiled for names of known types, and
// evaluated for blocks of elements. Its values are integers of 128 bits, modulo 2^128, and doubles:
//   numbers without fraction, integer names   integers
//   + - * and min, max, abs, ?:               of integers integers, else doubles
//   /                                         of integers, where nothing in the expression is a
//                                             double, truncated; of a division by 0 the result is
//                                             0. Else of doubles
//   % bit_and bit_or bit_xor                  integers, of integers; of a % 0 the result is 0
//   < <= > >= == !=                           1 or 0, of doubles if one operand is one
//   && || !                                   1 or 0
//   ^ and the other functions                 doubles
// An integer that is needed as a double is computed in double, so that it does not overflow.
// Threads: a program is used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "expression/syntax.hpp"

namespace fatlink::detail {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

/// What a name in an expression stands for: values that lie in memory, which must outlive programs.
struct expression_variable {
  std::string name = {};
  bool is_integer = false;
  double const* reals = nullptr;   ///< one for each element; of an integer the nearest doubles
  int128 const* wholes = nullptr;  ///< of an integer
};

class expression_program {
 public:
  /// `capacity`: elements of a block, at most.
  /// @throws expression_error a name that is no variable, or an operation of integers whose
  /// operands
  ///   are doubles.
  expression_program(expression_syntax const& syntax,
                     std::span<expression_variable const> variables, std::size_t capacity = 1);

  /// Whether the result is an integer.
  [[nodiscard]] bool is_integer() const noexcept { return is_integer_; }
  /// Of the first `count` elements, at most the capacity, with the variables' present values.
  void evaluate(std::size_t count = 1)
  {
    for (auto const& next : program_) execute(next, count);
  }
  /// The results of the last call, if they are integers.
  [[nodiscard]] int128 const* wholes() const noexcept { return wholes_[result_]; }
  /// The results of the last call, if they are doubles.
  [[nodiscard]] double const* reals() const noexcept { return reals_[result_]; }

 private:
  friend class program_compiler;
  struct instruction {
    expression_code code = expression_code::number;
    /// Whether the operands are doubles; of `choose` the last two.
    bool takes_reals = false;
    std::uint32_t result = 0;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
    expression_function const* function = nullptr;
  };
  void execute(instruction const& next, std::size_t count);
  void combine_reals(instruction const& next, std::size_t count);
  void compare_reals(instruction const& next, std::size_t count);
  void combine_wholes(instruction const& next, std::size_t count);
  void call(instruction const& next, std::size_t count);

  bool is_integer_ = false;
  std::uint32_t result_ = 0;
  std::vector<instruction> program_ = {};
  // Registers, numbered from 0 for each of the two types: those of the variables, then own ones.
  std::vector<double const*> reals_ = {};
  std::vector<int128 const*> wholes_ = {};
  std::vector<std::unique_ptr<double[]>> own_reals_ = {};
  std::vector<std::unique_ptr<int128[]>> own_wholes_ = {};
};

}  // namespace fatlink::detail
