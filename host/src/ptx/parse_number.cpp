// SPDX-License-Identifier: Apache-2.0
// Numbers: integers, decimal reals and the exact forms 0f… and 0d….
// Source: PTX ISA 9.0, "Constants".
#include <bit>
#include <charconv>

#include "ptx/grammar.hpp"

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
