// SPDX-License-Identifier: Apache-2.0
// Operands of instructions. Source: PTX ISA 9.0, "Instruction Operands".
#include "ptx/body_scopes.hpp"
#include "ptx/grammar.hpp"

namespace fatlink::ptx {
namespace {

using syntax::operand;
using syntax::operand_kind;

/// The sum modulo 2^64, as addresses are computed.
std::int64_t sum(std::int64_t a, std::int64_t b) noexcept
{
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

constexpr unsigned k_max_depth = 3;  // of vectors and lists in operands: call (a), f, ({…})

class operand_parser {
 public:
  operand_parser(token_reader& reader, body_scopes& scopes, bool is_call)
      : reader_(reader), scopes_(scopes), is_call_(is_call)
  {
  }

  operand parse(unsigned depth)
  {
    if (depth > k_max_depth) reader_.fail("operands are nested too deeply");
    if (is_call_ && depth == 0 && reader_.accept("("))
      return parse_group(operand_kind::list, ")", depth);
    if (reader_.accept("[")) return parse_address(depth);
    auto operand =
        reader_.accept("{") ? parse_group(operand_kind::vector, "}", depth) : parse_simple();
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
      address.offset = sum(base.offset, parse_offset(reader_));
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

  /// Whether a name, which no constant expression has, follows `sign`.
  [[nodiscard]] bool at_name_after(std::string_view sign) const
  {
    return reader_.at(sign) && reader_.second().kind == token_kind::word &&
           reader_.second().text != "WARP_SZ";
  }

  operand parse_simple()
  {
    auto const inverted = at_name_after("!");
    auto const negative = at_name_after("-");
    if (!inverted && !negative && at_constant(reader_)) return parse_constant(reader_);
    if (inverted || negative) reader_.next();
    auto operand = resolve(reader_.expect_name("an operand"));
    auto const is_register = operand.kind == operand_kind::register_;
    if (negative && !is_register) reader_.fail("expected a number after '-'");
    if (inverted && !is_register) reader_.fail("expected a register after '!'");
    operand.negated = inverted;
    operand.minus = negative;
    if (is_register && reader_.peek().kind == token_kind::directive)
      operand.selector = reader_.next().text.substr(1);
    if (is_register) operand.offset = parse_offset(reader_);
    if (operand.kind == operand_kind::variable || operand.kind == operand_kind::symbol) {
      if (reader_.at("[")) parse_element(operand);
      operand.offset = sum(operand.offset, parse_offset(reader_));
    }
    return operand;
  }

  /// Reads `[3]` after the name of an array.
  void parse_element(operand& array)
  {
    reader_.next();
    if (!at_constant(reader_)) reader_.fail("the index of an array is not a constant");
    auto const index = parse_constant(reader_);
    if (index.kind != operand_kind::integer) reader_.fail("expected an integer constant");
    array.is_element = true;
    if (array.kind == operand_kind::symbol)
      array.element = static_cast<std::int64_t>(index.bits);
    else
      array.offset =
          static_cast<std::int64_t>(index.bits * size_of(scopes_.variable(array.index).type));
    reader_.expect("]");
  }

  operand resolve(std::string_view word)
  {
    operand operand;
    if (word == "_") return operand;
    if (auto const declaration = scopes_.find(std::string(word))) {
      if (declaration->lanes > 1) return resolve_vector(*declaration);
      operand.kind = declaration->is_register ? operand_kind::register_ : operand_kind::variable;
      operand.index = declaration->index;
    } else {
      operand.kind = word.starts_with("%") ? operand_kind::special : operand_kind::symbol;
      operand.name = word;
      if (operand.kind == operand_kind::special && reader_.peek().kind == token_kind::directive)
        operand.name += reader_.next().text;  // %tid.x
    }
    return operand;
  }

  /// `%w` or `%w.x`: a register of .v2 or .v4 is a vector of registers.
  operand resolve_vector(body_scopes::declared_name const& declaration)
  {
    operand vector;
    vector.kind = operand_kind::vector;
    for (unsigned i = 0; i < declaration.lanes; ++i) {
      auto& lane = vector.parts.emplace_back();
      lane.kind = operand_kind::register_;
      lane.index = declaration.index + i;
    }
    if (reader_.peek().kind != token_kind::directive) return vector;
    auto const name = reader_.next().text;
    auto const lane = name.size() == 2 ? lane_of(name[1]) : declaration.lanes;
    if (lane >= declaration.lanes)
      reader_.fail("the register has no element '" + std::string(name) + "'");
    return vector.parts[lane];
  }

  /// 4 for any other letter.
  static unsigned lane_of(char letter) noexcept
  {
    constexpr std::string_view k_letters = "xyzwrgba";
    auto const position = k_letters.find(letter);
    return position == std::string_view::npos ? 4U : static_cast<unsigned>(position % 4);
  }

  token_reader& reader_;
  body_scopes& scopes_;
  bool is_call_;
};

}  // namespace

syntax::operand parse_operand(token_reader& reader, body_scopes& scopes, bool is_call)
{
  return operand_parser(reader, scopes, is_call).parse(0);
}

}  // namespace fatlink::ptx
