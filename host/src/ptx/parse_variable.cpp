// SPDX-License-Identifier: Apache-2.0
// Declarations of variables and parameters. Source: PTX ISA 9.0, "Variables".
#include <algorithm>
#include <bit>

#include "ptx/grammar.hpp"
#include "util/limits.hpp"

namespace fatlink::ptx {
namespace {

using syntax::operand_kind;

constexpr std::uint64_t k_max_bytes = std::uint64_t{1} << 31;  // of one variable
constexpr std::uint64_t k_max_alignment = 4096;

struct declared_type {
  ptx::type type = type::b32;
  unsigned align = 0;
  unsigned lanes = 1;  ///< of .v2 and .v4
  bool is_reference = false;
};

bool is_reference_word(std::string_view word) noexcept
{
  return word == "texref" || word == "surfref" || word == "samplerref";
}

/// Reads everything between the state space and the name.
declared_type parse_declared_type(token_reader& reader)
{
  declared_type declared;
  bool has_type = false;
  while (reader.peek().kind == token_kind::directive) {
    auto const word = reader.next().text.substr(1);
    if (word == "align") {
      declared.align = static_cast<unsigned>(reader.expect_count("an alignment", k_max_alignment));
      if (!std::has_single_bit(declared.align)) reader.fail("the alignment is not a power of two");
    } else if (word == "attribute") {
      reader.skip_past(")");
    } else if (word == "v2" || word == "v4") {
      declared.lanes = word == "v2" ? 2 : 4;
    } else if (auto const type = parse_type(word)) {
      declared.type = *type;
      has_type = true;
    } else if (is_reference_word(word)) {
      declared.type = type::b64;  // as large as a texture object
      declared.is_reference = true;
      has_type = true;
    } else if (word != "ptr" &&
               !parse_space(word)) {  // .ptr .global .align 8 only guides the compiler
      reader.fail("unknown type '." + std::string(word) + "'");
    }
  }
  if (!has_type) reader.fail("the declaration has no type");
  return declared;
}

void require_memory_type(token_reader& reader, declared_type const& declared)
{
  if (declared.type == type::pred) reader.fail("a variable cannot be .pred");
}

std::uint64_t parse_dimensions(token_reader& reader, std::uint64_t elements)
{
  while (reader.accept("[")) {
    auto const size = reader.at("]") ? 0 : reader.expect_count("an array size", k_max_bytes);
    reader.expect("]");
    elements *= size;  // both below 2^31
    if (elements > k_max_bytes) reader.fail("the array has more than 2 GiB");
  }
  return elements;
}

/// Reads `symbol+4` or `generic(symbol)+4`.
syntax::initial_value parse_symbol_value(token_reader& reader)
{
  syntax::initial_value value;
  if (reader.at("generic") && reader.second().text == "(") {
    reader.next();
    reader.next();
    value.symbol = reader.expect_name("a symbol");
    reader.expect(")");
  } else {
    value.symbol = reader.expect_name("a symbol");
  }
  value.addend = parse_offset(reader);
  return value;
}

/// Reads `0xFF00(symbol+4)`.
syntax::initial_value parse_masked_value(token_reader& reader)
{
  auto const mask = parse_number(reader, false);
  if (mask.kind != operand_kind::integer || mask.bits == 0)
    reader.fail("the mask of a symbol is not a positive integer");
  reader.expect("(");
  auto value = parse_symbol_value(reader);
  value.mask = mask.bits;
  reader.expect(")");
  return value;
}

/// The bits of `number` as an element of type `type`.
std::uint64_t bits_of(syntax::operand const& number, type type)
{
  if (number.kind == operand_kind::integer) return number.bits;
  auto const value =
      number.kind == operand_kind::real32
          ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(number.bits)))
          : std::bit_cast<double>(number.bits);
  if (type == ptx::type::f32 || type == ptx::type::b32)
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == ptx::type::f64 || type == ptx::type::b64) return std::bit_cast<std::uint64_t>(value);
  return number.bits;
}

void parse_initial(token_reader& reader, syntax::variable& variable, unsigned depth)
{
  if (reader.accept("{")) {
    if (depth == limits::k_initializer_depth)
      reader.refuse("initialisers with braces nested deeper than " +
                    std::to_string(limits::k_initializer_depth));
    while (!reader.accept("}")) {
      parse_initial(reader, variable, depth + 1);
      if (!reader.at("}")) reader.expect(",");
    }
    return;
  }
  if (reader.peek().kind == token_kind::number && reader.second().text == "(")
    variable.initial.push_back(parse_masked_value(reader));
  else if (at_constant(reader))
    variable.initial.push_back({.bits = bits_of(parse_constant(reader), variable.type)});
  else
    variable.initial.push_back(parse_symbol_value(reader));
}

/// Reads the initialiser of a variable, if it has one.
void parse_initializer(token_reader& reader, syntax::variable& variable)
{
  if (!reader.accept("=")) return;
  if (!variable.is_reference) return parse_initial(reader, variable, 0);
  reader.expect("{");  // {addr_mode_0 = wrap, …}: no memory
  reader.skip_past("}");
}

}  // namespace

syntax::variable parse_parameter(token_reader& reader)
{
  syntax::variable variable;
  variable.in_register = reader.accept(".reg");
  if (!variable.in_register) reader.expect(".param");
  auto declared = parse_declared_type(reader);
  variable.is_predicate = variable.in_register && declared.type == type::pred;
  if (variable.is_predicate) declared.type = type::b32;
  require_memory_type(reader, declared);
  variable.space = space::param;
  variable.is_reference = declared.is_reference;
  variable.type = declared.type;
  variable.align = std::max(declared.align, size_of(declared.type) * declared.lanes);
  variable.line = reader.peek().line;
  variable.name = reader.expect_name("a parameter's name");
  variable.count = parse_dimensions(reader, declared.lanes);
  return variable;
}

void parse_variables(token_reader& reader, space space, syntax::linkage linkage,
                     std::vector<syntax::variable>& variables)
{
  auto const declared = parse_declared_type(reader);
  require_memory_type(reader, declared);
  do {
    syntax::variable variable;
    variable.space = space;
    variable.linkage = linkage;
    variable.type = declared.type;
    variable.align = std::max(declared.align, size_of(declared.type) * declared.lanes);
    variable.line = reader.peek().line;
    variable.name = reader.expect_name("a variable's name");
    variable.count = parse_dimensions(reader, declared.lanes);
    if (variable.bytes() > k_max_bytes) reader.fail("the variable has more than 2 GiB");
    variable.is_reference = declared.is_reference;
    parse_initializer(reader, variable);
    if (variable.count == 0 && !variable.initial.empty()) variable.count = variable.initial.size();
    if (variable.initial.size() > variable.count) reader.fail("more initial values than elements");
    variables.push_back(std::move(variable));
  } while (reader.accept(","));
  reader.expect(";");
}

}  // namespace fatlink::ptx
