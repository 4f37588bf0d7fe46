// SPDX-License-Identifier: Apache-2.0
#include "ptx/parser.hpp"

#include <optional>

#include "ptx/grammar.hpp"

namespace fatlink::ptx {
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
