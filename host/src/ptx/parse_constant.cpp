// SPDX-License-Identifier: Apache-2.0
// Numbers (integers, decimal reals, the exact forms 0f… and 0d…) and constant expressions. Source:
// PTX ISA 9.0, "Constants" and "Constant Expressions"; ptxas 13.0 for what the text leaves open:
// the remainder is unsigned, shifts take the count modulo 64.
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "ptx/grammar.hpp"
#include "util/limits.hpp"

namespace fatlink::ptx {
namespace {

using syntax::operand_kind;

constexpr char const* k_bad_number = "a number is malformed or out of range";

syntax::operand number_operand(operand_kind kind, std::uint64_t bits)
{
  syntax::operand number;
  number.kind = kind;
  number.bits = bits;
  return number;
}

std::uint64_t parse_digits(token_reader& reader, std::string_view digits, int base)
{
  std::uint64_t value{};
  auto const* const end = digits.data() + digits.size();
  auto const [stop, code] = std::from_chars(digits.data(), end, value, base);
  if (code != std::errc{} || stop != end || digits.empty()) reader.fail(k_bad_number);
  return value;
}

/// 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX: the bits in hexadecimal.
syntax::operand parse_exact(token_reader& reader, std::string_view text, bool negative)
{
  auto const is_double = text[1] == 'd' || text[1] == 'D';
  if (text.size() != (is_double ? 18U : 10U)) reader.fail(k_bad_number);
  auto const bits = parse_digits(reader, text.substr(2), 16);
  auto const sign = std::uint64_t{1} << (is_double ? 63 : 31);
  return number_operand(is_double ? operand_kind::real64 : operand_kind::real32,
                        negative ? bits ^ sign : bits);
}

syntax::operand parse_decimal_real(token_reader& reader, std::string_view text, bool negative)
{
  double value = 0;
  auto const* const end = text.data() + text.size();
  auto const [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || stop != end) reader.fail(k_bad_number);
  return number_operand(operand_kind::real64,
                        std::bit_cast<std::uint64_t>(negative ? -value : value));
}

/// 12, 0x1F, 017, 0b101, each with an optional U.
syntax::operand parse_integer(token_reader& reader, std::string_view text, bool negative)
{
  if (text.ends_with('U')) text.remove_suffix(1);
  auto const prefix = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  auto base = 10;
  if (prefix == 'x' || prefix == 'X' || prefix == 'b' || prefix == 'B') {
    base = prefix == 'x' || prefix == 'X' ? 16 : 2;
    text.remove_prefix(2);
  } else if (prefix != '\0') {
    base = 8;
  }
  auto const bits = parse_digits(reader, text, base);
  return number_operand(operand_kind::integer, negative ? 0 - bits : bits);
}

}  // namespace

syntax::operand parse_number(token_reader& reader, bool negative)
{
  if (reader.peek().kind != token_kind::number) reader.fail("expected a number");
  auto const text = reader.next().text;
  auto const prefix = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  if (prefix == 'f' || prefix == 'F' || prefix == 'd' || prefix == 'D')
    return parse_exact(reader, text, negative);
  auto const is_hexadecimal = prefix == 'x' || prefix == 'X';
  if (!is_hexadecimal && text.find_first_of(".eE") != std::string_view::npos)
    return parse_decimal_real(reader, text, negative);
  return parse_integer(reader, text, negative);
}

}  // namespace fatlink::ptx

namespace fatlink::ptx::constants {
namespace {

inline constexpr char const* k_no_integer = "expected an integer constant";

enum class value_type : std::uint8_t { s64, u64, f32, f64 };

/// Integers as 64 bits; f32 only as it is written, because arithmetic is in f64.
struct value {
  value_type type = value_type::s64;
  std::uint64_t bits = 0;
};

inline bool is_real(value operand) noexcept
{
  return operand.type == value_type::f32 || operand.type == value_type::f64;
}

enum class symbol : std::uint8_t {
  logical_or,
  logical_and,
  bit_or,
  bit_xor,
  bit_and,
  equal,
  unequal,
  less_equal,
  greater_equal,
  left_shift,
  right_shift,
  less,
  greater,
  plus,
  minus,
  times,
  divide,
  remainder,
};

double real_of(value operand) noexcept
{
  if (operand.type == value_type::f32)
    return std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits));
  if (operand.type == value_type::f64) return std::bit_cast<double>(operand.bits);
  return operand.type == value_type::s64
             ? static_cast<double>(static_cast<std::int64_t>(operand.bits))
             : static_cast<double>(operand.bits);
}

value real(double number) noexcept
{
  return {value_type::f64, std::bit_cast<std::uint64_t>(number)};
}

value truth(bool condition) noexcept
{
  return {value_type::s64, condition ? 1U : 0U};
}

template <typename T>
bool holds(symbol relation, T a, T b) noexcept
{
  switch (relation) {
    case symbol::equal:
      return a == b;
    case symbol::unequal:
      return a != b;
    case symbol::less:
      return a < b;
    case symbol::less_equal:
      return a <= b;
    case symbol::greater:
      return a > b;
    default:
      return a >= b;
  }
}

bool is_relation(symbol symbol) noexcept
{
  return (symbol >= symbol::equal && symbol <= symbol::greater_equal) || symbol == symbol::less ||
         symbol == symbol::greater;
}

value expect_integer(value operand)
{
  if (is_real(operand)) throw std::domain_error(k_no_integer);
  return operand;
}

value shifted_right(value a, unsigned count) noexcept
{
  return {a.type, a.type == value_type::s64
                      ? static_cast<std::uint64_t>(static_cast<std::int64_t>(a.bits) >> count)
                      : a.bits >> count};
}

/// s64 for two signed integers, else u64.
value_type common_type(value a, value b) noexcept
{
  return a.type == value_type::s64 && b.type == value_type::s64 ? value_type::s64 : value_type::u64;
}

value apply_arithmetic(symbol op, value a, value b)
{
  auto const type = common_type(a, b);
  if (op == symbol::plus) return {type, a.bits + b.bits};
  if (op == symbol::minus) return {type, a.bits - b.bits};
  if (op == symbol::times) return {type, a.bits * b.bits};
  if (b.bits == 0) throw std::domain_error("a constant expression divides by zero");
  if (op == symbol::remainder) return {value_type::s64, a.bits % b.bits};
  if (type == value_type::u64) return {type, a.bits / b.bits};
  if (b.bits == ~std::uint64_t{0}) return {type, 0 - a.bits};  // the quotient may overflow
  return {type, static_cast<std::uint64_t>(static_cast<std::int64_t>(a.bits) /
                                           static_cast<std::int64_t>(b.bits))};
}

value apply_real(symbol op, double a, double b)
{
  if (is_relation(op)) return truth(holds(op, a, b));
  switch (op) {
    case symbol::plus:
      return real(a + b);
    case symbol::minus:
      return real(a - b);
    case symbol::times:
      return real(a * b);
    case symbol::divide:
      return real(a / b);
    default:
      throw std::domain_error(k_no_integer);
  }
}

/// `sign` is '+', '-', '!' or '~'.
/// @throws std::domain_error the operand is no integer where it must be.
value apply(char sign, value operand)
{
  if (sign == '+') return operand;
  if (sign == '!') return truth(expect_integer(operand).bits == 0);
  if (sign == '~') return {value_type::u64, ~expect_integer(operand).bits};
  if (operand.type == value_type::f32) return {operand.type, operand.bits ^ 0x80000000U};
  if (is_real(operand)) return real(-real_of(operand));
  return {operand.type, 0 - operand.bits};
}

/// @throws std::domain_error an operand is no integer where it must be; a division by zero.
value apply(symbol op, value a, value b)
{
  if (is_real(a) || is_real(b)) return apply_real(op, real_of(a), real_of(b));
  if (is_relation(op))
    return truth(common_type(a, b) == value_type::s64 ? holds(op, static_cast<std::int64_t>(a.bits),
                                                              static_cast<std::int64_t>(b.bits))
                                                      : holds(op, a.bits, b.bits));
  switch (op) {
    case symbol::logical_or:
      return truth(a.bits != 0 || b.bits != 0);
    case symbol::logical_and:
      return truth(a.bits != 0 && b.bits != 0);
    case symbol::bit_or:
      return {value_type::u64, a.bits | b.bits};
    case symbol::bit_xor:
      return {value_type::u64, a.bits ^ b.bits};
    case symbol::bit_and:
      return {value_type::u64, a.bits & b.bits};
    case symbol::left_shift:
      return {a.type, a.bits << (b.bits & 63U)};
    case symbol::right_shift:
      return shifted_right(a, static_cast<unsigned>(b.bits & 63U));
    default:
      return apply_arithmetic(op, a, b);
  }
}

}  // namespace
}  // namespace fatlink::ptx::constants

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
      reader_.fail_unsupported("constant expressions nested deeper than " +
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
      reader_.fail_unsupported("constant expressions nested deeper than " +
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
