// SPDX-License-Identifier: Apache-2.0
// Bodies of functions: scopes, registers, labels and instructions.
#include <map>
#include <optional>

#include "ptx/parser.hpp"
#include "util/limits.hpp"

namespace fatlink::cpu {
namespace {

using syntax::operand;
using syntax::operand_kind;

constexpr unsigned k_most_depth = 3;  // of vectors and lists in operands: call (a), f, ({…})
constexpr std::uint64_t k_most_registers = std::uint64_t{1} << 24;

struct declared {
  bool is_register = true;
  unsigned index = 0;
};

/// `.reg .b32 %r<37>` declares %r0 to %r36; each exists once it is used.
struct register_range {
  std::uint64_t count;
  cpu::type type;
};

/// A name that may be a label of this scope or of one around it.
struct open_name {
  bool in_table;  ///< else in an instruction
  std::size_t where;
  std::size_t operand;
};

/// No hash tables: an input could provoke collisions.
struct scope {
  std::map<std::string, declared> names;
  std::map<std::string, register_range> ranges;
  std::map<std::string, unsigned> labels;
  std::vector<open_name> open;
};

class body_parser {
 public:
  body_parser(token_reader& from, syntax::function& to) : from_(from), to_(to)
  {
    scopes_.emplace_back();
    for (auto const* list : {&to.results, &to.parameters})
      for (auto const& one : *list) declare(one);
  }

  void parse()
  {
    while (!scopes_.empty()) {
      if (from_.peek().kind == token_kind::end) from_.fail("a body without its closing brace");
      if (from_.accept("{"))
        open_scope();
      else if (from_.accept("}"))
        close_scope();
      else
        parse_statement();
    }
  }

 private:
  void parse_statement()
  {
    if (from_.peek().kind == token_kind::directive) return parse_directive();
    if (from_.peek().kind == token_kind::word && from_.second().text == ":") return parse_label();
    if (from_.accept(";")) return;
    parse_instruction();
  }

  void parse_directive()
  {
    if (from_.at(".loc")) return void(location_ = parse_location(from_));
    if (from_.at(".file")) return from_.skip_line();
    if (from_.at(".pragma")) return from_.skip_past(";");
    if (from_.accept(".reg")) return parse_registers();
    auto const in = parse_space(from_.peek().text.substr(1));
    if (!in) from_.fail("unknown directive '" + std::string(from_.peek().text) + "'");
    from_.next();
    std::vector<syntax::variable> found;
    parse_variables(from_, *in, syntax::linkage::local, found);
    for (auto const& one : found) declare(one);
  }

  void declare(syntax::variable const& one)
  {
    scopes_.back().names[one.name] = {false, static_cast<unsigned>(to_.variables.size())};
    to_.variables.push_back(one);
  }

  void parse_registers()
  {
    auto const word = from_.next().text;
    auto const type = word.starts_with(".") ? parse_type(word.substr(1)) : std::nullopt;
    if (!type) from_.fail("a register of unknown type '" + std::string(word) + "'");
    do {
      std::string const name(from_.expect_name("a register's name"));
      if (from_.accept("<")) {
        scopes_.back().ranges[name] = {from_.expect_count("a register count", k_most_registers),
                                       *type};
        from_.expect(">");
      } else {
        scopes_.back().names[name] = {true, new_register(name, *type)};
      }
    } while (from_.accept(","));
    from_.expect(";");
  }

  unsigned new_register(std::string const& name, type type)
  {
    if (to_.registers.size() >= k_most_registers) from_.fail("too many registers");
    to_.registers.push_back({name, type});
    return static_cast<unsigned>(to_.registers.size() - 1);
  }

  void parse_label()
  {
    std::string const name(from_.next().text);
    from_.next();
    if (from_.accept(".branchtargets")) {
      to_.tables.push_back({name, {}});
      do {
        scopes_.back().open.push_back(
            {true, to_.tables.size() - 1, to_.tables.back().labels.size()});
        to_.tables.back().labels.push_back(
            named(operand_kind::symbol, from_.expect_name("a label")));
      } while (from_.accept(","));
      return from_.expect(";");
    }
    if (from_.at(".callprototype") || from_.at(".calltargets")) {
      to_.prototypes.push_back(name);
      return from_.skip_past(";");
    }
    auto const here = static_cast<unsigned>(to_.instructions.size());
    if (!scopes_.back().labels.emplace(name, here).second)
      from_.fail("label " + name + " is defined twice");
  }

  static operand named(operand_kind kind, std::string_view name)
  {
    operand made;
    made.kind = kind;
    made.name = name;
    return made;
  }

  void parse_instruction()
  {
    syntax::instruction made;
    auto const begin = from_.peek();
    made.line = begin.line;
    made.location = location_;
    if (from_.accept("@")) {
      made.guard_negated = from_.accept("!");
      auto const guard = parse_operand(0);
      if (guard.kind != operand_kind::register_) from_.fail("a guard that is no register");
      made.guard = static_cast<int>(guard.index);
    }
    made.name = from_.expect_name("an instruction");
    while (from_.peek().kind == token_kind::directive)
      made.modifiers.push_back(from_.next().text.substr(1));
    if (!from_.at(";")) do {
        made.operands.push_back(parse_operand(0));
        if (made.operands.back().kind == operand_kind::symbol)
          scopes_.back().open.push_back({false, to_.instructions.size(), made.operands.size() - 1});
      } while (from_.accept(","));
    auto const end = from_.peek();
    from_.expect(";");
    made.text = {begin.text.data(), end.offset - begin.offset};
    to_.instructions.push_back(std::move(made));
  }

  operand parse_operand(unsigned depth)
  {
    if (depth > k_most_depth) from_.fail("operands nested too deeply");
    if (from_.accept("{")) return parse_group(operand_kind::vector, "}", depth);
    if (from_.accept("(")) return parse_group(operand_kind::list, ")", depth);
    if (from_.accept("[")) return parse_address(depth);
    auto first = parse_simple();
    if (!from_.accept("|")) return first;
    operand pair;
    pair.kind = operand_kind::pair;
    pair.parts.push_back(std::move(first));
    pair.parts.push_back(parse_simple());
    return pair;
  }

  operand parse_group(operand_kind kind, std::string_view end, unsigned depth)
  {
    operand made;
    made.kind = kind;
    while (!from_.accept(end)) {
      if (!made.parts.empty()) from_.expect(",");
      made.parts.push_back(parse_operand(depth + 1));
    }
    return made;
  }

  operand parse_address(unsigned depth)
  {
    operand made;
    made.kind = operand_kind::address;
    auto base = parse_operand(depth + 1);
    if (base.kind == operand_kind::integer) {
      made.offset = static_cast<std::int64_t>(base.bits);
    } else {
      made.offset = base.offset + parse_offset();
      base.offset = 0;
      made.parts.push_back(std::move(base));
    }
    while (from_.accept(",")) {
      made.kind = operand_kind::texel;
      made.parts.push_back(parse_operand(depth + 1));
    }
    from_.expect("]");
    return made;
  }

  /// `+4`, `-4`, `+-4`, or nothing.
  std::int64_t parse_offset()
  {
    if (!from_.at("+") && !from_.at("-")) return 0;
    bool negative = from_.next().text == "-";
    if (from_.accept("-")) negative = !negative;
    return static_cast<std::int64_t>(parse_number(from_, negative).bits);
  }

  operand parse_simple()
  {
    auto const inverted = from_.accept("!");
    auto const negative = !inverted && from_.accept("-");
    if (from_.peek().kind == token_kind::number) return parse_number(from_, negative);
    if (negative) from_.fail("expected a number after '-'");
    auto found = resolve(from_.expect_name("an operand"));
    if (inverted && found.kind != operand_kind::register_)
      from_.fail("'!' before what is no register");
    found.negated = inverted;
    if (found.kind == operand_kind::variable || found.kind == operand_kind::symbol)
      found.offset = parse_offset();
    return found;
  }

  operand resolve(std::string_view word)
  {
    if (word == "_") return {};
    std::string const name(word);
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (auto const found = find_in(*scope, name)) {
        operand made;
        made.kind = found->is_register ? operand_kind::register_ : operand_kind::variable;
        made.index = found->index;
        return made;
      }
    if (word == "WARP_SZ") {
      operand made;
      made.kind = operand_kind::integer;
      made.bits = 32;
      return made;
    }
    if (!word.starts_with("%")) return named(operand_kind::symbol, word);
    auto made = named(operand_kind::special, word);
    if (from_.peek().kind == token_kind::directive) made.name += from_.next().text;
    return made;
  }

  std::optional<declared> find_in(scope& in, std::string const& name)
  {
    if (auto const found = in.names.find(name); found != in.names.end()) return found->second;
    auto const digits = name.find_last_not_of("0123456789") + 1;
    if (digits == 0 || digits >= name.size() || name.size() - digits > 8) return {};
    auto const range = in.ranges.find(name.substr(0, digits));
    if (range == in.ranges.end()) return {};
    if (name[digits] == '0' && name.size() > digits + 1) return {};
    if (std::stoul(name.substr(digits)) >= range->second.count) return {};
    declared const made{true, new_register(name, range->second.type)};
    in.names[name] = made;
    return made;
  }

  void open_scope()
  {
    if (scopes_.size() == limits::k_scope_depth)
      from_.refuse("bodies with braces nested deeper than " +
                   std::to_string(limits::k_scope_depth));
    scopes_.emplace_back();
  }

  void close_scope()
  {
    auto const closed = std::move(scopes_.back());
    scopes_.pop_back();
    for (auto const& open : closed.open) {
      auto& name = open.in_table ? to_.tables[open.where].labels[open.operand]
                                 : to_.instructions[open.where].operands[open.operand];
      if (auto const found = closed.labels.find(name.name); found != closed.labels.end()) {
        name.kind = operand_kind::label;
        name.index = found->second;
      } else if (!scopes_.empty()) {
        scopes_.back().open.push_back(open);
      }
    }
  }

  token_reader& from_;
  syntax::function& to_;
  std::vector<scope> scopes_;
  syntax::source_location location_;  ///< of the next instructions
};

}  // namespace

void parse_body(token_reader& from, syntax::function& of)
{
  body_parser(from, of).parse();
}

}  // namespace fatlink::cpu
