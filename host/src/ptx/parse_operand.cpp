// SPDX-License-Identifier: Apache-2.0
// Operands of instructions. Source: PTX ISA 9.0, "Instruction Operands".
#include "ptx/body_scopes.hpp"
#include "ptx/grammar.hpp"

namespace fatlink::ptx {
namespace {

using syntax::operand;
using syntax::operand_kind;

constexpr unsigned k_max_depth = 3;  // of vectors and lists in operands: call (a), f, ({…})

class operand_parser {
 public:
  operand_parser(token_reader& reader, body_scopes& scopes) : reader_(reader), scopes_(scopes) {}

  operand parse(unsigned depth)
  {
    if (depth > k_max_depth) reader_.fail("operands are nested too deeply");
    if (reader_.accept("{")) return parse_group(operand_kind::vector, "}", depth);
    if (reader_.accept("(")) return parse_group(operand_kind::list, ")", depth);
    if (reader_.accept("[")) return parse_address(depth);
    auto operand = parse_simple();
    if (!reader_.accept("|")) return operand;
    syntax::operand pair;
    pair.kind = operand_kind::pair;
    pair.parts.push_back(std::move(operand));
    pair.parts.push_back(parse_simple());
    return pair;
  }

 private:
  operand parse_group(operand_kind kind, std::string_view end, unsigned depth)
  {
    operand group;
    group.kind = kind;
    while (!reader_.accept(end)) {
      if (!group.parts.empty()) reader_.expect(",");
      group.parts.push_back(parse(depth + 1));
    }
    return group;
  }

  operand parse_address(unsigned depth)
  {
    operand address;
    address.kind = operand_kind::address;
    auto base = parse(depth + 1);
    if (base.kind == operand_kind::integer) {
      address.offset = static_cast<std::int64_t>(base.bits);
    } else {
      address.offset = base.offset + parse_offset(reader_);
      base.offset = 0;
      address.parts.push_back(std::move(base));
    }
    while (reader_.accept(",")) {
      address.kind = operand_kind::texel;
      address.parts.push_back(parse(depth + 1));
    }
    reader_.expect("]");
    return address;
  }

  operand parse_simple()
  {
    auto const inverted = reader_.accept("!");
    auto const negative = !inverted && reader_.accept("-");
    if (reader_.peek().kind == token_kind::number) return parse_number(reader_, negative);
    auto operand = resolve(reader_.expect_name("an operand"));
    auto const is_register = operand.kind == operand_kind::register_;
    if (negative && !is_register) reader_.fail("expected a number after '-'");
    if (inverted && !is_register) reader_.fail("expected a register after '!'");
    operand.negated = inverted;
    operand.minus = negative;
    if (is_register && reader_.peek().kind == token_kind::directive)
      operand.selector = reader_.next().text.substr(1);
    if (operand.kind == operand_kind::variable || operand.kind == operand_kind::symbol)
      operand.offset = parse_offset(reader_);
    return operand;
  }

  operand resolve(std::string_view word)
  {
    operand operand;
    if (word == "_") return operand;
    if (auto const declaration = scopes_.find(std::string(word))) {
      operand.kind = declaration->is_register ? operand_kind::register_ : operand_kind::variable;
      operand.index = declaration->index;
    } else if (word == "WARP_SZ") {
      operand.kind = operand_kind::integer;
      operand.bits = 32;
    } else {
      operand.kind = word.starts_with("%") ? operand_kind::special : operand_kind::symbol;
      operand.name = word;
      if (operand.kind == operand_kind::special && reader_.peek().kind == token_kind::directive)
        operand.name += reader_.next().text;  // %tid.x
    }
    return operand;
  }

  token_reader& reader_;
  body_scopes& scopes_;
};

}  // namespace

syntax::operand parse_operand(token_reader& reader, body_scopes& scopes)
{
  return operand_parser(reader, scopes).parse(0);
}

}  // namespace fatlink::ptx
