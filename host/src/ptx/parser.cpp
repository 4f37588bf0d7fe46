// SPDX-License-Identifier: Apache-2.0
#include "ptx/parser.hpp"

#include <optional>

#include "interpreter/limits.hpp"
#include "util/limits.hpp"

namespace fatlink::cpu {
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

/// Module-level statements that say nothing about what is computed.
bool skip_statement(token_reader& from)
{
  if (from.at(".version") || from.at(".target") || from.at(".loc")) {
    from.skip_line();
  } else if (from.at(".section")) {
    from.next();
    from.next();
    from.expect("{");
    from.skip_past("}");
  } else if (from.at(".pragma")) {
    from.skip_past(";");
  } else {
    return false;
  }
  return true;
}

std::vector<syntax::variable> parse_parameters(token_reader& from)
{
  std::vector<syntax::variable> found;
  from.expect("(");
  while (!from.accept(")")) {
    if (!found.empty()) from.expect(",");
    found.push_back(parse_parameter(from));
  }
  return found;
}

/// `.maxntid 128, 1, 1`, `.minnctapersm 2`, `.noreturn`, `.pragma "…";`: hints to a compiler,
/// or promises to one.
void skip_performance_directives(token_reader& from)
{
  while (from.peek().kind == token_kind::directive) {
    auto const word = from.next().text;
    if (word == ".pragma") from.skip_past(";");
    while (from.peek().kind == token_kind::number || from.at(",") || from.at("(") || from.at(")"))
      from.next();
  }
}

syntax::function parse_function(token_reader& from, linkage linkage)
{
  syntax::function made;
  made.line = from.peek().line;
  made.linkage = linkage;
  made.is_entry = from.next().text == ".entry";
  while (from.peek().kind == token_kind::directive) {  // .noreturn, .attribute(…)
    if (from.next().text == ".attribute") from.skip_past(")");
  }
  if (from.at("(")) made.results = parse_parameters(from);
  made.name = from.expect_name("a function's name");
  if (from.at("(")) made.parameters = parse_parameters(from);
  skip_performance_directives(from);
  if (from.accept(";")) return made;
  from.expect("{");
  made.has_body = true;
  parse_body(from, made);
  return made;
}

void parse_statement(token_reader& from, syntax::module& to)
{
  if (skip_statement(from)) return;
  if (from.at(".file")) return parse_file(from, to.files);
  if (from.accept(".address_size")) {
    if (from.expect_count("an address size", 64) != 64)
      from.fail("only 64-bit addresses are known");
    return;
  }
  auto found = linkage::local;
  if (auto const stated = parse_linkage(from.peek().text)) {
    found = *stated;
    from.next();
  }
  if (from.at(".func") || from.at(".entry")) {
    to.functions.push_back(parse_function(from, found));
    return;
  }
  auto const word = from.peek().text;
  auto const in = word.starts_with(".") ? parse_space(word.substr(1)) : std::nullopt;
  if (!in || *in == space::param || *in == space::local)
    from.fail("expected a function or a variable, found '" + std::string(word) + "'");
  from.next();
  parse_variables(from, *in, found, to.variables);
}

}  // namespace

token_reader::token_reader(std::string_view text, std::string const& source)
    : lexer_(text), source_(source)
{
  for (auto& one : ahead_) one = lexer_.next();
}

token token_reader::next()
{
  if (++taken_ > limits::k_tokens)
    refuse("PTX of more than " + std::to_string(limits::k_tokens) + " tokens");
  auto const taken = ahead_[0];
  ahead_[0] = ahead_[1];
  ahead_[1] = lexer_.next();
  return taken;
}

bool token_reader::accept(std::string_view text)
{
  if (!at(text)) return false;
  next();
  return true;
}

void token_reader::expect(std::string_view text)
{
  if (!accept(text))
    fail("expected '" + std::string(text) + "', found '" + std::string(peek().text) + "'");
}

std::string_view token_reader::expect_name(std::string_view what)
{
  if (peek().kind != token_kind::word)
    fail("expected " + std::string(what) + ", found '" + std::string(peek().text) + "'");
  return next().text;
}

std::uint64_t token_reader::expect_count(std::string_view what, std::uint64_t most)
{
  auto const number = parse_number(*this, false);
  if (number.kind != syntax::operand_kind::integer || number.bits > most)
    fail(std::string(what) + " is no whole number up to " + std::to_string(most));
  return number.bits;
}

void token_reader::skip_line()
{
  auto const line = peek().line;
  while (peek().kind != token_kind::end && peek().line == line) next();
}

void token_reader::skip_past(std::string_view end)
{
  for (unsigned depth = 0;;) {
    auto const taken = next();
    if (taken.kind == token_kind::end) fail("expected '" + std::string(end) + "', found the end");
    if (depth == 0 && taken.text == end) return;
    if (taken.text == "{") ++depth;
    if (taken.text == "}" && depth > 0) --depth;
  }
}

void token_reader::fail(std::string const& why) const
{
  throw failure(fault::syntax, source_ + ":" + std::to_string(peek().line) + ": " + why, source_,
                peek().line);
}

void token_reader::refuse(std::string const& limit) const
{
  throw failure(fault::refused,
                source_ + ":" + std::to_string(peek().line) + ": " + unsupported(limit), source_,
                peek().line);
}

syntax::module parse_module(std::string_view text, std::string name)
{
  syntax::module made;
  made.name = std::move(name);
  made.text = std::make_shared<std::string const>(text);
  token_reader from(*made.text, made.name);
  if (!from.at(".version")) from.fail("is no PTX: it does not begin with .version");
  while (from.peek().kind != token_kind::end) parse_statement(from, made);
  return made;
}

}  // namespace fatlink::cpu
