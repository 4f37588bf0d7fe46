// SPDX-License-Identifier: Apache-2.0
// Constant expressions. Source: PTX ISA 9.0, "Constant Expressions".
#include <array>
#include <optional>
#include <stdexcept>

#include "ptx/constant_value.hpp"
#include "ptx/grammar.hpp"
#include "util/limits.hpp"

namespace fatlink::ptx {
namespace {

using syntax::operand_kind;
using namespace constants;

struct binary_operator {
  std::string_view text;
  constants::symbol symbol;
  unsigned precedence;
};

/// Those of two characters first.
constexpr std::array k_operators{
    binary_operator{"||", symbol::logical_or, 1}, binary_operator{"&&", symbol::logical_and, 2},
    binary_operator{"==", symbol::equal, 6},      binary_operator{"!=", symbol::unequal, 6},
    binary_operator{"<=", symbol::less_equal, 7}, binary_operator{">=", symbol::greater_equal, 7},
    binary_operator{"<<", symbol::left_shift, 8}, binary_operator{">>", symbol::right_shift, 8},
    binary_operator{"|", symbol::bit_or, 3},      binary_operator{"^", symbol::bit_xor, 4},
    binary_operator{"&", symbol::bit_and, 5},     binary_operator{"<", symbol::less, 7},
    binary_operator{">", symbol::greater, 7},     binary_operator{"+", symbol::plus, 9},
    binary_operator{"-", symbol::minus, 9},       binary_operator{"*", symbol::times, 10},
    binary_operator{"/", symbol::divide, 10},     binary_operator{"%", symbol::remainder, 10},
};

class constant_parser {
 public:
  explicit constant_parser(token_reader& reader) : reader_(reader) {}

  /// A conditional expression. Recursive: at most limits::k_constant_depth deep.
  value parse()
  {
    if (++depth_ > limits::k_constant_depth)
      reader_.refuse("constant expressions nested deeper than " +
                     std::to_string(limits::k_constant_depth));
    auto result = parse_binary(1);
    if (reader_.accept("?")) {
      auto const condition = expect_integer(result).bits != 0;
      auto const first = parse();
      reader_.expect(":");
      auto const second = parse();
      result = condition ? first : second;
      if (is_real(first) != is_real(second)) reader_.fail("the cases are of different types");
      if (!is_real(first)) result.type = common_type(first, second);
    }
    --depth_;
    return result;
  }

 private:
  value parse_binary(unsigned precedence)
  {
    auto left = parse_unary();
    for (auto op = next_operator(precedence); op != nullptr; op = next_operator(precedence)) {
      for (std::size_t i = 0; i < op->text.size(); ++i) reader_.next();
      auto const right = parse_binary(op->precedence + 1);
      left = computed([&] { return apply(op->symbol, left, right); });
    }
    return left;
  }

  /// The operator at the next token, if it binds at least as strongly as `precedence`.
  [[nodiscard]] binary_operator const* next_operator(unsigned precedence) const noexcept
  {
    if (reader_.peek().kind != token_kind::mark && !reader_.at("%")) return nullptr;
    for (auto const& op : k_operators)
      if (reader_.at_mark(op.text)) return op.precedence >= precedence ? &op : nullptr;
    return nullptr;
  }

  value parse_unary()
  {
    for (auto const* const text : {"+", "-", "!", "~"})
      if (reader_.accept(text)) return apply_sign(text[0]);
    if (!reader_.accept("(")) return parse_literal();
    auto const type = parse_cast();
    if (!type) {
      auto const result = parse();
      reader_.expect(")");
      return result;
    }
    reader_.expect(")");
    return {*type, expect_integer(nested_unary()).bits};
  }

  value apply_sign(char sign)
  {
    auto const operand = nested_unary();
    return computed([&] { return apply(sign, operand); });
  }

  value nested_unary()
  {
    if (++depth_ > limits::k_constant_depth)
      reader_.refuse("constant expressions nested deeper than " +
                     std::to_string(limits::k_constant_depth));
    auto const operand = parse_unary();
    --depth_;
    return operand;
  }

  /// `.s64` or `.u64`, after a parenthesis.
  std::optional<value_type> parse_cast()
  {
    if (reader_.accept(".s64")) return value_type::s64;
    if (reader_.accept(".u64")) return value_type::u64;
    return {};
  }

  value parse_literal()
  {
    if (reader_.accept("WARP_SZ")) return {value_type::s64, 32};
    if (reader_.peek().kind != token_kind::number)
      reader_.fail("expected a constant, found '" + std::string(reader_.peek().text) + "'");
    auto const text = reader_.peek().text;
    auto const number = parse_number(reader_, false);
    if (number.kind == operand_kind::real32) return {value_type::f32, number.bits};
    if (number.kind == operand_kind::real64) return {value_type::f64, number.bits};
    auto const is_unsigned = text.ends_with('U') || number.bits > k_max_signed;
    return {is_unsigned ? value_type::u64 : value_type::s64, number.bits};
  }

  [[nodiscard]] value expect_integer(value operand) const
  {
    if (is_real(operand)) reader_.fail(k_no_integer);
    return operand;
  }

  /// `compute` throws what is wrong with the operands.
  template <typename Compute>
  value computed(Compute const& compute) const
  {
    try {
      return compute();
    } catch (std::domain_error const& error) {
      reader_.fail(error.what());
    }
  }

  static constexpr std::uint64_t k_max_signed = ~std::uint64_t{0} >> 1;

  token_reader& reader_;
  std::size_t depth_ = 0;
};

}  // namespace

bool at_constant(token_reader const& reader) noexcept
{
  return reader.peek().kind == token_kind::number || reader.at("(") || reader.at("-") ||
         reader.at("+") || reader.at("~") || reader.at("!") || reader.at("WARP_SZ");
}

syntax::operand parse_constant(token_reader& reader)
{
  auto const result = constant_parser(reader).parse();
  syntax::operand operand;
  operand.kind = result.type == value_type::f32   ? operand_kind::real32
                 : result.type == value_type::f64 ? operand_kind::real64
                                                  : operand_kind::integer;
  operand.bits = result.bits;
  return operand;
}

std::int64_t parse_offset(token_reader& reader)
{
  if (!reader.at("-") && !reader.accept("+")) return 0;
  auto const offset = parse_constant(reader);
  if (offset.kind != operand_kind::integer) reader.fail("expected an integer constant");
  return static_cast<std::int64_t>(offset.bits);
}

}  // namespace fatlink::ptx
