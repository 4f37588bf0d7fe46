// SPDX-License-Identifier: Apache-2.0
// Modules: directives, declarations of variables, parameters and functions, and source lines, which
// nvcc -lineinfo records. Source: PTX ISA 9.0, "Directives", "Variables", "Debugging Directives".
#include "ptx/parser.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <optional>
#include <string>

#include "ptx/grammar.hpp"
#include "util/limits.hpp"

namespace fatlink::ptx {
namespace {

using tokens = std::vector<token>;

/// 0 if there is no such token or it is not a number.
unsigned number_at(tokens const& words, std::size_t index)
{
  unsigned value = 0;
  if (index < words.size()) {
    auto const text = words[index].text;
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return value;
}

std::string location_text(syntax::source_position const& position,
                          std::map<unsigned, std::string> const& files)
{
  auto const file = files.find(position.file);
  if (position.line == 0 || file == files.end()) return {};
  return file->second + ":" + std::to_string(position.line);
}

/// Reads the line `.file 1 "wild.cu", …` and records the file. Other forms are ignored.
void parse_file(token_reader& reader, std::map<unsigned, std::string>& files)
{
  auto const words = reader.take_directive();
  if (words.size() < 3 || words[2].kind != token_kind::string || words[2].text.size() < 2) return;
  auto const quoted = words[2].text;
  files[number_at(words, 1)] = quoted.substr(1, quoted.size() - 2);
}

}  // namespace

syntax::source_location parse_location(token_reader& reader)
{
  auto const words = reader.take_directive();
  if (number_at(words, 3) == 0) return {};  // the start of a function, not a statement
  syntax::source_location location{.position = {number_at(words, 1), number_at(words, 2)},
                                   .inlined_at = {}};
  auto const inlined = std::find_if(words.begin(), words.end(),
                                    [](token const& word) { return word.text == "inlined_at"; });
  auto const index = static_cast<std::size_t>(inlined - words.begin());
  location.inlined_at = {number_at(words, index + 1), number_at(words, index + 2)};
  return location;
}

std::string syntax::location_text(source_location const& location,
                                  std::map<unsigned, std::string> const& files)
{
  auto const position = ptx::location_text(location.position, files);
  auto const call = ptx::location_text(location.inlined_at, files);
  if (position.empty() || call.empty()) return position;
  return position + ", inlined at " + call;
}

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
      reader.fail_unsupported("initialisers with braces nested deeper than " +
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

/// Reads one `.param` or `.reg` of a parameter list. `.ptr` attributes are accepted and ignored.
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

}  // namespace

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

namespace {

using syntax::linkage;

std::optional<linkage> parse_linkage(std::string_view word)
{
  if (word == ".visible") return linkage::visible;
  if (word == ".extern") return linkage::external;
  if (word == ".weak") return linkage::weak;
  if (word == ".common") return linkage::common;
  return {};
}

/// Skips a statement of module level that does not affect what the module computes; false if the
/// next statement is another one.
bool skip_statement(token_reader& reader)
{
  if (reader.at(".version") || reader.at(".target") || reader.at(".loc")) {
    reader.take_directive();
  } else if (reader.at(".section")) {
    reader.next();
    reader.next();
    reader.expect("{");
    reader.skip_past("}");
  } else if (reader.at(".pragma")) {
    reader.skip_past(";");
  } else {
    return false;
  }
  return true;
}

std::vector<syntax::variable> parse_parameters(token_reader& reader)
{
  std::vector<syntax::variable> parameters;
  reader.expect("(");
  while (!reader.accept(")")) {
    if (!parameters.empty()) reader.expect(",");
    parameters.push_back(parse_parameter(reader));
  }
  return parameters;
}

constexpr std::uint64_t k_max_extent = 0xFFFFFFFF;

/// Reads `128`, `16, 16` or `8, 8, 4`; extents that are not stated are 1.
syntax::stated_size parse_size(token_reader& reader)
{
  syntax::stated_size size{{1, 1, 1}};
  for (auto& extent : size.extent) {
    extent = reader.expect_count("a size", k_max_extent);
    if (!reader.accept(",")) break;
  }
  return size;
}

/// The size that the directive `word` states; null for other directives.
syntax::stated_size* size_for(syntax::launch_directives& launches, std::string_view word)
{
  if (word == ".maxntid") return &launches.max_block;
  if (word == ".reqntid") return &launches.required_block;
  if (word == ".reqnctapercluster") return &launches.cluster;
  return nullptr;
}

/// Reads `.maxntid 128, 1, 1` and others that limit launches. Skips `.minnctapersm 2`, `.noreturn`,
/// `.pragma "…";`, which only guide the compiler.
void parse_performance_directives(token_reader& reader, syntax::launch_directives& launches)
{
  auto const is_argument = [&reader] {
    return reader.peek().kind == token_kind::number || reader.at(",") || reader.at("(") ||
           reader.at(")");
  };
  while (reader.peek().kind == token_kind::directive) {
    auto const word = reader.next().text;
    if (auto* const size = size_for(launches, word); size != nullptr) *size = parse_size(reader);
    if (word == ".explicitcluster") launches.explicit_cluster = true;
    if (word == ".pragma") reader.skip_past(";");
    while (is_argument()) reader.next();
  }
}

syntax::function parse_function(token_reader& reader, linkage linkage)
{
  syntax::function function;
  function.line = reader.peek().line;
  function.linkage = linkage;
  function.is_entry = reader.next().text == ".entry";
  while (reader.peek().kind == token_kind::directive) {  // .noreturn, .attribute(…)
    if (reader.next().text == ".attribute") reader.skip_past(")");
  }
  if (reader.at("(")) function.results = parse_parameters(reader);
  function.name = reader.expect_name("a function's name");
  if (reader.at("(")) function.parameters = parse_parameters(reader);
  parse_performance_directives(reader, function.launches);
  if (reader.accept(";")) return function;
  reader.expect("{");
  function.has_body = true;
  parse_body(reader, function);
  return function;
}

void parse_address_size(token_reader& reader)
{
  if (reader.expect_count("an address size", 64) != 64)
    reader.fail("the address size is not 64; only 64-bit PTX is accepted");
}

/// Of `.version 6.3`. 0 if the number is not of this form.
unsigned version_of(std::vector<token> const& directive)
{
  unsigned version = 0;
  if (directive.size() < 2) return 0;
  for (auto const c : directive[1].text.substr(0, 4)) {
    if (c == '.') continue;
    if (c < '0' || c > '9') return 0;
    version = 10 * version + static_cast<unsigned>(c - '0');
  }
  return version;
}

linkage take_linkage(token_reader& reader)
{
  auto const stated = parse_linkage(reader.peek().text);
  if (stated) reader.next();
  return stated.value_or(linkage::local);
}

/// Reads `.alias name, target;`, after the directive.
void parse_alias(token_reader& reader, syntax::module& module)
{
  syntax::function_alias alias;
  alias.line = reader.peek().line;
  alias.name = reader.expect_name("a function's name");
  reader.expect(",");
  alias.target = reader.expect_name("a function's name");
  reader.expect(";");
  module.aliases.push_back(std::move(alias));
}

void parse_definition(token_reader& reader, syntax::module& module)
{
  auto const linkage = take_linkage(reader);
  if (reader.at(".func") || reader.at(".entry")) {
    module.functions.push_back(parse_function(reader, linkage));
    return;
  }
  auto const word = reader.peek().text;
  auto const state_space = word.starts_with(".") ? parse_space(word.substr(1)) : std::nullopt;
  if (!state_space || *state_space == space::param || *state_space == space::local)
    reader.fail("expected a function or a variable, found '" + std::string(word) + "'");
  reader.next();
  parse_variables(reader, *state_space, linkage, module.variables);
}

void parse_statement(token_reader& reader, syntax::module& module)
{
  if (skip_statement(reader)) return;
  if (reader.at(".file"))
    parse_file(reader, module.files);
  else if (reader.accept(".address_size"))
    parse_address_size(reader);
  else if (reader.accept(".alias"))
    parse_alias(reader, module);
  else
    parse_definition(reader, module);
}

}  // namespace

syntax::module parse_module(std::string_view text, std::string name)
{
  syntax::module module;
  module.name = std::move(name);
  module.text = std::make_shared<std::string const>(text);
  token_reader reader(*module.text, module.name);
  if (!reader.at(".version")) reader.fail("not PTX: it does not begin with .version");
  module.version = version_of(reader.take_directive());
  while (reader.peek().kind != token_kind::end) parse_statement(reader, module);
  return module;
}

}  // namespace fatlink::ptx
