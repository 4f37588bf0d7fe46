// SPDX-License-Identifier: Apache-2.0
// Bodies of functions: declarations, labels and instructions.
#include <utility>

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
    auto const outside = reader_.brace_depth() - 1;
    auto statement = reader_.peek();
    try {
      while (!scopes_.empty()) {
        statement = reader_.peek();
        parse_next();
      }
    } catch (syntax_error const& error) {
      if (error.category() == syntax_error::kind::unsupported) throw;
      auto const text = reader_.text_from(statement);
      while (reader_.brace_depth() > outside) {
        if (reader_.peek().kind == token_kind::end) throw;  // where the body ends is unknown
        reader_.next();
      }
      note(error, text);
    }
  }

 private:
  void parse_next()
  {
    if (reader_.peek().kind == token_kind::end) reader_.fail("the body has no closing brace");
    if (reader_.accept("{"))
      scopes_.open();
    else if (reader_.accept("}"))
      scopes_.close();
    else
      parse_statement();
  }

  /// Records why the body is not understood. What was read of it is incomplete.
  void note(syntax_error const& error, std::string_view statement)
  {
    function_.error = {
        .line = error.line(), .statement = std::string(statement), .reason = error.detail()};
    function_.instructions.clear();
    function_.tables.clear();
  }

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
    if (reader_.at(".file")) return void(reader_.take_directive());
    if (reader_.at(".pragma")) return reader_.skip_past(";");
    if (reader_.accept(".reg")) return parse_registers();
    auto const space = parse_space(reader_.peek().text.substr(1));
    if (!space) reader_.fail("unknown directive '" + std::string(reader_.peek().text) + "'");
    reader_.next();
    std::vector<syntax::variable> variables;
    parse_variables(reader_, *space, syntax::linkage::local, variables);
    for (auto& variable : variables) {
      for (auto& value : variable.initial)
        if (!value.symbol.empty()) find_variable(value);
      scopes_.declare(variable);
    }
  }

  void find_variable(syntax::initial_value& value)
  {
    auto const declaration = scopes_.find(value.symbol);
    if (declaration && !declaration->is_register)
      value.variable = static_cast<int>(declaration->index);
  }

  /// Reads `.b32`, `.v2 .b32` or `.v4 .b32`.
  body_scopes::register_type parse_register_type()
  {
    body_scopes::register_type result;
    if (reader_.at(".v2") || reader_.at(".v4")) result.lanes = reader_.next().text == ".v2" ? 2 : 4;
    auto const word = reader_.next().text;
    auto const type = word.starts_with(".") ? parse_type(word.substr(1)) : std::nullopt;
    if (!type) reader_.fail("unknown register type '" + std::string(word) + "'");
    result.type = *type;
    return result;
  }

  void parse_registers()
  {
    auto const type = parse_register_type();
    do {
      std::string const name(reader_.expect_name("a register's name"));
      if (reader_.accept("<")) {
        scopes_.declare_registers(
            name, reader_.expect_count("a register count", k_max_register_count), type);
        reader_.expect(">");
      } else {
        scopes_.declare_register(name, type);
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
    auto const guard = parse_operand(reader_, scopes_, false);
    if (guard.kind != operand_kind::register_) reader_.fail("the guard is not a register");
    instruction.guard = static_cast<int>(guard.index);
  }

  /// Instructions for which `array[1]` is what `[array+4]` is. For others it is an address.
  static bool accesses_memory(syntax::instruction const& instruction) noexcept
  {
    auto const name = instruction.name;
    return name == "ld" || name == "ldu" || name == "st";
  }

  static void make_address(syntax::operand& element)
  {
    syntax::operand address;
    address.kind = operand_kind::address;
    address.offset = std::exchange(element.offset, 0);
    address.parts.push_back(std::move(element));
    element = std::move(address);
  }

  void parse_operands(syntax::instruction& instruction)
  {
    auto& operands = instruction.operands;
    auto const is_call = instruction.name == "call";
    do {
      operands.push_back(parse_operand(reader_, scopes_, is_call));
      if (operands.back().is_element && accesses_memory(instruction)) make_address(operands.back());
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
