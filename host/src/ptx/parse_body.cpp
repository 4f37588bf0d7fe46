// SPDX-License-Identifier: Apache-2.0
// Bodies of functions: declarations, labels and instructions.
#include "ptx/body_scopes.hpp"
#include "ptx/grammar.hpp"

namespace fatlink::ptx {
namespace {

using syntax::operand_kind;

constexpr std::uint64_t k_max_register_count = std::uint64_t{1} << 24;

class body_parser {
 public:
  body_parser(token_reader& reader, syntax::function& function)
      : reader_(reader), function_(function), scopes_(reader, function)
  {
  }

  void parse()
  {
    while (!scopes_.empty()) {
      if (reader_.peek().kind == token_kind::end) reader_.fail("the body has no closing brace");
      if (reader_.accept("{"))
        scopes_.open();
      else if (reader_.accept("}"))
        scopes_.close();
      else
        parse_statement();
    }
  }

 private:
  void parse_statement()
  {
    if (reader_.peek().kind == token_kind::directive) return parse_directive();
    if (reader_.peek().kind == token_kind::word && reader_.second().text == ":")
      return parse_label();
    if (reader_.accept(";")) return;
    parse_instruction();
  }

  void parse_directive()
  {
    if (reader_.at(".loc")) return void(location_ = parse_location(reader_));
    if (reader_.at(".file")) return reader_.skip_line();
    if (reader_.at(".pragma")) return reader_.skip_past(";");
    if (reader_.accept(".reg")) return parse_registers();
    auto const space = parse_space(reader_.peek().text.substr(1));
    if (!space) reader_.fail("unknown directive '" + std::string(reader_.peek().text) + "'");
    reader_.next();
    std::vector<syntax::variable> variables;
    parse_variables(reader_, *space, syntax::linkage::local, variables);
    for (auto const& variable : variables) scopes_.declare(variable);
  }

  void parse_registers()
  {
    auto const word = reader_.next().text;
    auto const type = word.starts_with(".") ? parse_type(word.substr(1)) : std::nullopt;
    if (!type) reader_.fail("unknown register type '" + std::string(word) + "'");
    do {
      std::string const name(reader_.expect_name("a register's name"));
      if (reader_.accept("<")) {
        scopes_.declare_registers(
            name, reader_.expect_count("a register count", k_max_register_count), *type);
        reader_.expect(">");
      } else {
        scopes_.declare_register(name, *type);
      }
    } while (reader_.accept(","));
    reader_.expect(";");
  }

  void parse_label()
  {
    std::string const name(reader_.next().text);
    reader_.next();
    if (reader_.accept(".branchtargets")) return parse_branch_targets(name);
    if (reader_.at(".callprototype") || reader_.at(".calltargets")) {
      function_.prototypes.push_back(name);
      return reader_.skip_past(";");
    }
    scopes_.define_label(name);
  }

  void parse_branch_targets(std::string const& name)
  {
    function_.tables.push_back({name, {}});
    auto& labels = function_.tables.back().labels;
    do {
      scopes_.add_label_use(
          {.in_table = true, .owner = function_.tables.size() - 1, .operand = labels.size()});
      auto& label = labels.emplace_back();
      label.kind = operand_kind::symbol;
      label.name = reader_.expect_name("a label");
    } while (reader_.accept(","));
    reader_.expect(";");
  }

  void parse_instruction()
  {
    syntax::instruction instruction;
    auto const begin = reader_.peek();
    instruction.line = begin.line;
    instruction.location = location_;
    if (reader_.accept("@")) parse_guard(instruction);
    instruction.name = reader_.expect_name("an instruction");
    while (reader_.peek().kind == token_kind::directive)
      instruction.modifiers.push_back(reader_.next().text.substr(1));
    if (!reader_.at(";")) parse_operands(instruction);
    auto const end = reader_.peek();
    reader_.expect(";");
    instruction.text = {begin.text.data(), end.offset - begin.offset};
    function_.instructions.push_back(std::move(instruction));
  }

  void parse_guard(syntax::instruction& instruction)
  {
    instruction.guard_negated = reader_.accept("!");
    auto const guard = parse_operand(reader_, scopes_);
    if (guard.kind != operand_kind::register_) reader_.fail("the guard is not a register");
    instruction.guard = static_cast<int>(guard.index);
  }

  void parse_operands(syntax::instruction& instruction)
  {
    auto& operands = instruction.operands;
    do {
      operands.push_back(parse_operand(reader_, scopes_));
      if (operands.back().kind == operand_kind::symbol)
        scopes_.add_label_use({.in_table = false,
                               .owner = function_.instructions.size(),
                               .operand = operands.size() - 1});
    } while (reader_.accept(","));
  }

  token_reader& reader_;
  syntax::function& function_;
  body_scopes scopes_;
  syntax::source_location location_;  ///< of the instructions that follow
};

}  // namespace

void parse_body(token_reader& reader, syntax::function& function)
{
  body_parser(reader, function).parse();
}

}  // namespace fatlink::ptx
