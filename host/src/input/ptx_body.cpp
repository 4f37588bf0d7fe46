// SPDX-License-Identifier: Apache-2.0
#include "input/ptx_body.hpp"

#include <cstddef>
#include <string>

#include "input/refuse.hpp"
#include "ptx/lexer.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

using ptx::token;
using ptx::token_kind;

constexpr std::size_t k_shown_bytes = 32;
constexpr std::string_view k_marks = ";,:()[]{}<>+-*/!~&|^=?@#";
/// Whether the lexer made `word` of bytes that are none.
bool is_no_token(token const& word)
{
  switch (word.kind) {
    case token_kind::mark:
      return k_marks.find(word.text) == std::string_view::npos;
    case token_kind::string:
      return word.text.size() < 2 || !word.text.ends_with('"');
    case token_kind::directive:
      return word.text == ".";
    default:
      return false;
  }
}

class body_checker {
 public:
  body_checker(std::string_view text, std::string_view name)
      : text_(text), name_(name), lexer_(text)
  {
    advance();
  }

  void check()
  {
    while (token_.kind != token_kind::end) {
      if (depth_ == 0)
        check_directive();
      else
        check_statement();
    }
    if (depth_ > 0) fail(token_, "ends inside a block");
  }

 private:
  [[noreturn]] void fail(token const& place, std::string const& cause) const
  {
    refuse_ptx(text_, name_, place.offset, cause);
  }

  static std::string shown(token const& word)
  {
    return detail::format("'{}'", printable_line(word.text.substr(0, k_shown_bytes)));
  }

  void advance()
  {
    token_ = lexer_.next();
    if (is_no_token(token_))
      fail(token_, detail::format("has {}, which is no token", shown(token_)));
  }

  [[nodiscard]] bool at(std::string_view text) const { return token_.text == text; }

  /// At module level.
  void check_directive()
  {
    if (at(";")) return advance();
    if (at("{")) return open();       // the body after a head with `.pragma "…";`
    if (at("@")) return skip_line();  // @@DWARF
    if (at("}")) fail(token_, "has '}' without '{'");
    if (token_.kind != token_kind::directive)
      fail(token_, detail::format("has {} where a directive must be", shown(token_)));
    if (ptx::unterminated_directive::begins_with(token_)) return skip_unterminated();
    if (at(".section")) return skip_section();
    skip_declaration();
  }

  /// In a block, at the begin of a statement.
  void check_statement()
  {
    if (at(";")) return advance();
    if (at("{")) return open();
    if (at("}")) return close();
    if (ptx::unterminated_directive::begins_with(token_)) return skip_unterminated();
    if (token_.kind == token_kind::word) return skip_instruction();
    if (token_.kind != token_kind::directive && !at("@"))
      fail(token_, detail::format("has {} where a statement must be", shown(token_)));
    skip_past_semicolon();
  }

  void open()
  {
    ++depth_;
    advance();
  }
  void close()
  {
    --depth_;
    advance();
  }

  /// A label, or an instruction.
  void skip_instruction()
  {
    advance();
    if (at(":")) return advance();
    skip_past_semicolon();
  }

  /// Skips the rest of a statement, with its operands in braces.
  void skip_past_semicolon()
  {
    std::size_t braces = 0;
    for (; !at(";"); advance()) {
      if (token_.kind == token_kind::end) fail(token_, "ends inside a statement");
      if (at("{")) ++braces;
      if (at("}") && braces-- == 0) fail(token_, "has '}' inside a statement");
    }
    if (braces > 0) fail(token_, "has ';' between the braces of an operand");
    advance();
  }

  /// Skips the head of a function, or a variable with its initial values.
  void skip_declaration()
  {
    for (; !at(";"); advance()) {
      if (token_.kind == token_kind::end) fail(token_, "ends inside a directive");
      if (at("=")) return skip_past_semicolon();
      if (at("}")) fail(token_, "has '}' without '{'");
      if (at("{")) return open();
    }
    advance();
  }

  void skip_section()
  {
    while (!at("{")) {
      if (token_.kind == token_kind::end) fail(token_, "ends inside a directive");
      advance();
    }
    while (!at("}")) {
      if (token_.kind == token_kind::end) fail(token_, "ends inside a block");
      advance();
    }
    advance();
  }

  void skip_line()
  {
    for (auto const line = token_.line; token_.kind != token_kind::end && token_.line == line;)
      advance();
  }

  void skip_unterminated()
  {
    ptx::unterminated_directive directive(token_);
    do advance();
    while (directive.takes(token_));
  }

  std::string_view text_;
  std::string_view name_;
  ptx::lexer lexer_;
  token token_;
  std::size_t depth_ = 0;  ///< of blocks
};

}  // namespace

void check_ptx_body(std::string_view text, std::string_view name)
{
  body_checker(text, name).check();
}

}  // namespace fatlink::detail
