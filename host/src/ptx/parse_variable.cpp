// SPDX-License-Identifier: Apache-2.0
// Declarations of variables and parameters, and numbers.
#include <bit>
#include <charconv>
#include <limits>

#include "interpreter/limits.hpp"
#include "ptx/parser.hpp"
#include "util/limits.hpp"

namespace fatlink::cpu {
namespace {

using syntax::operand_kind;

constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << 31;  // of one variable
constexpr std::uint64_t k_most_alignment = 4096;

struct declared_type {
  cpu::type type = type::b32;
  unsigned align = 0;
  unsigned lanes = 1;  ///< of .v2 and .v4
};

/// Everything between the space and the name.
declared_type parse_declared_type(token_reader& from)
{
  declared_type found;
  bool has_type = false;
  while (from.peek().kind == token_kind::directive) {
    auto const word = from.next().text.substr(1);
    if (word == "align") {
      found.align = static_cast<unsigned>(from.expect_count("an alignment", k_most_alignment));
      if (!std::has_single_bit(found.align)) from.fail("an alignment is no power of two");
    } else if (word == "attribute") {
      from.skip_past(")");
    } else if (word == "v2" || word == "v4") {
      found.lanes = word == "v2" ? 2 : 4;
    } else if (auto const type = parse_type(word)) {
      found.type = *type;
      has_type = true;
    } else if (word == "texref" || word == "surfref" || word == "samplerref") {
      from.refuse(std::string(k_textures) + ": ." + std::string(word));
    } else if (word != "ptr" && !parse_space(word)) {  // .ptr .global .align 8: a promise
      from.fail("unknown type '." + std::string(word) + "'");
    }
  }
  if (!has_type) from.fail("a declaration without a type");
  if (found.type == type::pred) from.fail("a variable cannot be .pred");
  return found;
}

std::uint64_t parse_dimensions(token_reader& from, std::uint64_t elements)
{
  while (from.accept("[")) {
    auto const size = from.at("]") ? 0 : from.expect_count("an array's size", k_most_bytes);
    from.expect("]");
    elements *= size;  // both below 2^31
    if (elements > k_most_bytes) from.fail("an array of more than 2 GiB");
  }
  return elements;
}

syntax::initial_value parse_symbol_value(token_reader& from)
{
  syntax::initial_value value;
  if (from.at("generic") && from.second().text == "(") {
    from.next();
    from.next();
    value.symbol = from.expect_name("a symbol");
    from.expect(")");
  } else {
    value.symbol = from.expect_name("a symbol");
  }
  auto const minus = from.at("-");
  if (from.accept("+") || from.accept("-"))
    value.addend = static_cast<std::int64_t>(parse_number(from, minus).bits);
  return value;
}

std::uint64_t bits_for(type to, syntax::operand const& number)
{
  if (number.kind == operand_kind::integer) return number.bits;
  auto const value =
      number.kind == operand_kind::real32
          ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(number.bits)))
          : std::bit_cast<double>(number.bits);
  if (to == type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (to == type::f64) return std::bit_cast<std::uint64_t>(value);
  return number.bits;
}

void parse_initial(token_reader& from, syntax::variable& of, unsigned depth)
{
  if (from.accept("{")) {
    if (depth == limits::k_initializer_depth)
      from.refuse("initialisers with braces nested deeper than " +
                  std::to_string(limits::k_initializer_depth));
    while (!from.accept("}")) {
      parse_initial(from, of, depth + 1);
      if (!from.at("}")) from.expect(",");
    }
    return;
  }
  auto const negative = from.accept("-");
  if (from.peek().kind == token_kind::number)
    of.initial.push_back(
        {.bits = bits_for(of.type, parse_number(from, negative)), .symbol = {}, .addend = 0});
  else
    of.initial.push_back(parse_symbol_value(from));
}

template <typename Number>
Number parse_digits(token_reader& from, std::string_view digits, int base)
{
  Number value{};
  auto const* const end = digits.data() + digits.size();
  auto const [rest, code] = std::from_chars(digits.data(), end, value, base);
  if (code != std::errc{} || rest != end || digits.empty())
    from.fail("a number malformed or out of range");
  return value;
}

/// 0f and 0d: the bits in hexadecimal, 8 and 16 digits.
syntax::operand parse_exact(token_reader& from, std::string_view text, bool negative)
{
  auto const wide = text[1] == 'd' || text[1] == 'D';
  if (text.size() != (wide ? 18U : 10U)) from.fail("a number malformed or out of range");
  auto const bits = parse_digits<std::uint64_t>(from, text.substr(2), 16);
  auto const sign = std::uint64_t{1} << (wide ? 63 : 31);
  syntax::operand made;
  made.kind = wide ? operand_kind::real64 : operand_kind::real32;
  made.bits = negative ? bits ^ sign : bits;
  return made;
}

syntax::operand parse_decimal_real(token_reader& from, std::string_view text, bool negative)
{
  double value = 0;
  auto const* const end = text.data() + text.size();
  auto const [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || rest != end) from.fail("a number malformed or out of range");
  syntax::operand made;
  made.kind = operand_kind::real64;
  made.bits = std::bit_cast<std::uint64_t>(negative ? -value : value);
  return made;
}

}  // namespace

syntax::operand parse_number(token_reader& from, bool negative)
{
  if (from.peek().kind != token_kind::number) from.fail("expected a number");
  auto text = from.next().text;
  auto const second = text.size() > 1 ? text[1] : '\0';
  if (text[0] == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D'))
    return parse_exact(from, text, negative);
  auto const hexadecimal = text[0] == '0' && (second == 'x' || second == 'X');
  if (!hexadecimal && text.find_first_of(".eE") != std::string_view::npos)
    return parse_decimal_real(from, text, negative);
  if (text.ends_with('U')) text.remove_suffix(1);
  auto base = 10;
  if (hexadecimal || (text[0] == '0' && (second == 'b' || second == 'B'))) {
    base = hexadecimal ? 16 : 2;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
  }
  syntax::operand made;
  made.kind = operand_kind::integer;
  made.bits = parse_digits<std::uint64_t>(from, text, base);
  if (negative) made.bits = 0 - made.bits;
  return made;
}

syntax::variable parse_parameter(token_reader& from)
{
  from.expect(".param");
  auto const declared = parse_declared_type(from);
  syntax::variable made;
  made.space = space::param;
  made.type = declared.type;
  made.align = std::max(declared.align, size_of(declared.type) * declared.lanes);
  made.line = from.peek().line;
  made.name = from.expect_name("a parameter's name");
  made.count = parse_dimensions(from, declared.lanes);
  return made;
}

void parse_variables(token_reader& from, space in, syntax::linkage linkage,
                     std::vector<syntax::variable>& to)
{
  auto const declared = parse_declared_type(from);
  do {
    syntax::variable made;
    made.space = in;
    made.linkage = linkage;
    made.type = declared.type;
    made.align = std::max(declared.align, size_of(declared.type) * declared.lanes);
    made.line = from.peek().line;
    made.name = from.expect_name("a variable's name");
    made.count = parse_dimensions(from, declared.lanes);
    if (made.bytes() > k_most_bytes) from.fail("a variable of more than 2 GiB");
    if (from.accept("=")) parse_initial(from, made, 0);
    if (made.count == 0 && !made.initial.empty()) made.count = made.initial.size();
    if (made.initial.size() > made.count) from.fail("more initial values than elements");
    to.push_back(std::move(made));
  } while (from.accept(","));
  from.expect(";");
}

}  // namespace fatlink::cpu
