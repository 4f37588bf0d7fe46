// SPDX-License-Identifier: Apache-2.0
// Bodies of functions: declarations, labels, instructions and their operands; and the names of
// nested scopes, without hash tables, because an input could provoke collisions. Source: PTX ISA
// 9.0, "Instruction Operands".
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ptx/grammar.hpp"
#include "ptx/lexer.hpp"
#include "ptx/syntax.hpp"
#include "util/limits.hpp"

namespace fatlink::ptx {
namespace {

class body_scopes {
 public:
  /// What a name stands for: an index into function::registers or function::variables.
  struct declared_name {
    bool is_register = true;
    unsigned index = 0;
    unsigned lanes = 1;  ///< of a register of .v2 or .v4: so many registers from `index`
  };
  /// The type of a register's elements, and their number.
  struct register_type {
    ptx::type type = type::b32;
    unsigned lanes = 1;
  };
  /// A symbol operand that may turn out to be a label: operand `operand` of the instruction, or of
  /// the branch table, with index `owner`.
  struct label_use {
    bool in_table = false;
    std::size_t owner = 0;
    std::size_t operand = 0;
  };

  /// Opens the outermost scope, with the results and parameters of `function`.
  body_scopes(token_reader const& reader, syntax::function& function);

  [[nodiscard]] bool empty() const noexcept { return scopes_.empty(); }
  /// @throws syntax_error (unsupported) more than limits::k_scope_depth scopes.
  void open();
  /// Closes the innermost scope: label uses that name a label of it become labels.
  void close();

  void declare(syntax::variable const& variable);
  void declare_register(std::string const& name, register_type type);
  /// `.reg .b32 %r<37>`: declares %r0 to %r36; a register is added when it is first used.
  void declare_registers(std::string const& prefix, std::uint64_t count, register_type type);
  /// Places the label `name` at the next instruction.
  /// @throws syntax_error (malformed) the scope already has it.
  void define_label(std::string const& name);
  void add_label_use(label_use use) { scopes_.back().label_uses.push_back(use); }

  [[nodiscard]] syntax::variable const& variable(unsigned index) const
  {
    return function_.variables[index];
  }

  /// The innermost declaration of `name`, if any.
  std::optional<declared_name> find(std::string const& name);

 private:
  struct register_range {
    std::uint64_t count;
    register_type type;
  };
  struct scope_names {
    std::map<std::string, declared_name> names;
    std::map<std::string, register_range> ranges;  ///< by prefix
    std::map<std::string, unsigned> labels;        ///< index of the instruction they precede
    std::vector<label_use> label_uses;
  };

  /// The declaration of `name`, whose registers are added.
  declared_name add_register(std::string const& name, register_type type);
  void declare_parameter(syntax::variable const& variable);
  std::optional<declared_name> find_in(scope_names& scope, std::string const& name);
  syntax::operand& operand_of(label_use use);

  token_reader const& reader_;
  syntax::function& function_;
  std::vector<scope_names> scopes_;
};

constexpr std::uint64_t k_max_registers = std::uint64_t{1} << 24;
constexpr std::size_t k_max_digits = 8;  ///< of a register's number

body_scopes::body_scopes(token_reader const& reader, syntax::function& function)
    : reader_(reader), function_(function)
{
  scopes_.emplace_back();
  for (auto const* list : {&function.results, &function.parameters})
    for (auto const& variable : *list) declare_parameter(variable);
}

void body_scopes::open()
{
  if (scopes_.size() == limits::k_scope_depth)
    reader_.fail_unsupported("bodies with braces nested deeper than " +
                             std::to_string(limits::k_scope_depth));
  scopes_.emplace_back();
}

syntax::operand& body_scopes::operand_of(label_use use)
{
  return use.in_table ? function_.tables[use.owner].labels[use.operand]
                      : function_.instructions[use.owner].operands[use.operand];
}

void body_scopes::close()
{
  auto const closed = std::move(scopes_.back());
  scopes_.pop_back();
  for (auto const& use : closed.label_uses) {
    auto& operand = operand_of(use);
    if (auto const label = closed.labels.find(operand.name); label != closed.labels.end()) {
      operand.kind = syntax::operand_kind::label;
      operand.index = label->second;
    } else if (!scopes_.empty()) {
      scopes_.back().label_uses.push_back(use);
    }
  }
}

void body_scopes::declare(syntax::variable const& variable)
{
  scopes_.back().names[variable.name] = {
      .is_register = false, .index = static_cast<unsigned>(function_.variables.size())};
  function_.variables.push_back(variable);
}

/// The body has a parameter in .reg as a register; it is passed as a variable.
void body_scopes::declare_parameter(syntax::variable const& variable)
{
  auto const index = static_cast<unsigned>(function_.variables.size());
  declare(variable);
  if (!variable.in_register) return;
  declare_register(variable.name, {variable.is_predicate ? type::pred : variable.type,
                                   static_cast<unsigned>(variable.count)});
  function_.register_parameters.push_back(
      {.variable = index, .register_ = scopes_.back().names[variable.name].index});
}

void body_scopes::declare_register(std::string const& name, register_type type)
{
  scopes_.back().names[name] = add_register(name, type);
}

void body_scopes::declare_registers(std::string const& prefix, std::uint64_t count,
                                    register_type type)
{
  scopes_.back().ranges[prefix] = {count, type};
}

body_scopes::declared_name body_scopes::add_register(std::string const& name, register_type type)
{
  if (function_.registers.size() >= k_max_registers)
    reader_.fail("more than " + std::to_string(k_max_registers) + " registers in a function");
  auto const index = static_cast<unsigned>(function_.registers.size());
  for (unsigned i = 0; i < type.lanes; ++i) function_.registers.push_back({name, type.type});
  return {.is_register = true, .index = index, .lanes = type.lanes};
}

void body_scopes::define_label(std::string const& name)
{
  auto const instruction = static_cast<unsigned>(function_.instructions.size());
  if (!scopes_.back().labels.emplace(name, instruction).second)
    reader_.fail("label " + name + " is defined twice");
}

std::optional<body_scopes::declared_name> body_scopes::find(std::string const& name)
{
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto const declaration = find_in(*scope, name)) return declaration;
  return {};
}

std::optional<body_scopes::declared_name> body_scopes::find_in(scope_names& scope,
                                                               std::string const& name)
{
  if (auto const entry = scope.names.find(name); entry != scope.names.end()) return entry->second;
  auto const digits = name.find_last_not_of("0123456789") + 1;
  if (digits == 0 || digits >= name.size() || name.size() - digits > k_max_digits) return {};
  auto const range = scope.ranges.find(name.substr(0, digits));
  if (range == scope.ranges.end()) return {};
  if (name[digits] == '0' && name.size() > digits + 1) return {};
  if (std::stoul(name.substr(digits)) >= range->second.count) return {};
  auto const added = add_register(name, range->second.type);
  scope.names[name] = added;
  return added;
}

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

/// Reads an operand; its names are looked up in `scopes`. Parentheses are a list in operands of
/// calls, else a constant expression.
syntax::operand parse_operand(token_reader& reader, body_scopes& scopes, bool is_call)
{
  return operand_parser(reader, scopes, is_call).parse(0);
}

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
