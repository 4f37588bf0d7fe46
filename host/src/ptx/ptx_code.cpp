// SPDX-License-Identifier: Apache-2.0
#include "ptx/ptx_code.hpp"

#include <set>
#include <span>
#include <utility>

#include "ptx/lexer.hpp"
#include "ptx/ptx_source.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink::detail {
namespace {

using code_map = std::map<std::string, std::string, std::less<>>;

/// How far names without linkage are followed: a chain of calls may be as long as a module.
constexpr unsigned k_deepest = 64;

struct code_definition {
  std::string_view text;  ///< from .func, .entry or the state space to the end
  bool has_linkage = false;
};

/// Splits a module into its definitions.
class definition_reader {
 public:
  definition_reader(std::string_view ptx, std::string_view name)
      : ptx_(ptx), lexer_(ptx), source_(ptx, name)
  {
    next();
  }

  std::map<std::string_view, code_definition> read()
  {
    while (token_.kind != ptx::token_kind::end) read_statement();
    return std::move(definitions_);
  }

 private:
  ptx::token next() { return std::exchange(token_, lexer_.next()); }

  void read_statement()
  {
    auto const word = token_.text;
    if (word == ".visible" || word == ".weak" || word == ".common" || word == ".extern") {
      has_linkage_ = true;
      next();
    } else if (word == ".func" || word == ".entry" || word == ".global" || word == ".const" ||
               word == ".shared") {
      read_definition(word == ".func" || word == ".entry");
    } else if (word == "{") {
      skip_block();
    } else {
      next();
    }
  }

  /// The braces of a function hold its body, those of a variable its initial value.
  void read_definition(bool is_function)
  {
    auto const begin = token_.offset;
    std::string_view name;
    auto has_braces = false;
    for (int braces = 0, parentheses = 0;;) {
      if (token_.kind == ptx::token_kind::end) source_.fail("ends inside a definition");
      auto const [kind, word, line, offset] = next();
      braces += word == "{" ? 1 : word == "}" ? -1 : 0;
      parentheses += word == "(" ? 1 : word == ")" ? -1 : 0;
      has_braces = has_braces || braces > 0;
      // .func (.param .b32 r) f (...), .align 4 .b8 v[4]
      if (name.empty() && parentheses == 0 && kind == ptx::token_kind::word) name = word;
      if (braces == 0 && (word == ";" || (is_function && word == "}"))) {
        add(name, ptx_.substr(begin, offset + 1 - begin), is_function && !has_braces);
        return;
      }
    }
  }

  void add(std::string_view name, std::string_view text, bool is_declaration)
  {
    auto const has_linkage = std::exchange(has_linkage_, false);
    if (!is_declaration && !name.empty())
      definitions_.try_emplace(name, code_definition{text, has_linkage});
  }

  void skip_block()
  {
    int depth = 0;
    do {
      if (token_.kind == ptx::token_kind::end) source_.fail("ends inside a block");
      auto const word = next().text;
      depth += word == "{" ? 1 : word == "}" ? -1 : 0;
    } while (depth > 0);
    has_linkage_ = false;
  }

  std::string_view ptx_;
  ptx::lexer lexer_;
  ptx_source source_;  ///< for messages
  ptx::token token_;
  bool has_linkage_ = false;
  std::map<std::string_view, code_definition> definitions_;
};

/// The name without the number that a link added: "f" of "f_$_1", "$str" of "$str$2".
std::string_view base_of(std::string_view name)
{
  auto const end = name.find_last_not_of("0123456789");
  for (std::string_view const mark : {"_$_", "$"})
    if (end + 1 < name.size() && name.substr(0, end + 1).ends_with(mark) && end + 1 > mark.size())
      return name.substr(0, end + 1 - mark.size());
  return name;
}

/// Writes definitions as comparable text.
class code_writer {
 public:
  code_writer(std::map<std::string_view, code_definition> definitions, name_scope scope)
      : definitions_(std::move(definitions)), scope_(scope)
  {
    for (auto const& [name, definition] : definitions_)
      if (auto const base = base_of(name); base != name) renamed_.insert({base, name});
  }

  code_map write()
  {
    code_map code;
    for (auto const& [name, definition] : definitions_)
      if (!is_private(name, definition)) code.emplace(name, write(name, definition));
    return code;
  }

 private:
  [[nodiscard]] bool is_private(std::string_view name, code_definition const& definition) const
  {
    if (scope_ == name_scope::module) return !definition.has_linkage;
    return name.starts_with('$') || renamed_.contains(name);
  }

  std::string write(std::string_view name, code_definition const& definition)
  {
    std::string text;
    std::map<std::string_view, std::size_t> labels;
    ptx::lexer lexer(definition.text);
    auto token = lexer.next();
    auto const next = [&] { return std::exchange(token, lexer.next()); };
    while (token.kind != ptx::token_kind::end) {
      auto const [kind, word, line, offset] = next();
      if (word == ".loc") {
        skip_location(token, next);
      } else if (word.starts_with("$L__tmp") && token.text == ":") {
        next();  // a label of debug information
      } else {
        text += ' ';
        if (kind == ptx::token_kind::word)
          write_word(name, word, labels, text);
        else
          text += word;
      }
    }
    return text;
  }

  void write_word(std::string_view own_name, std::string_view word,
                  std::map<std::string_view, std::size_t>& labels, std::string& text)
  {
    auto const other = definitions_.find(word);
    if (word.starts_with(own_name) &&
        (word.size() == own_name.size() || word.substr(own_name.size()).starts_with("_param_")))
      text.append("@").append(word.substr(own_name.size()));
    else if (other != definitions_.end() && is_private(word, other->second))
      text += digest_of(word, other->second);
    else if (other == definitions_.end() &&
             (word.starts_with('$') || word.starts_with("__local_depot")))
      text.append("$").append(
          std::to_string(labels.try_emplace(word, labels.size()).first->second));
    else
      text += word;
  }

  /// The digest of what `name` defines, in place of its name.
  std::string const& digest_of(std::string_view name, code_definition const& definition)
  {
    auto const [entry, is_new] = digests_.try_emplace(name, "(recursive)");
    if (is_new && depth_ < k_deepest) {
      ++depth_;
      auto const text = write(name, definition);
      entry->second = to_hexadecimal(sha256(std::as_bytes(std::span(text))));
      --depth_;
    }
    return entry->second;
  }

  /// Skips FILE LINE COLUMN[, function_name LABEL[+N]][, inlined_at FILE LINE COLUMN] of a .loc.
  template <typename Next>
  static void skip_location(ptx::token const& token, Next const& next)
  {
    auto const skip_numbers = [&] {
      while (token.kind == ptx::token_kind::number) next();
    };
    skip_numbers();
    while (token.text == ",") {
      next();
      if (next().text == "function_name") next();
      if (token.text == "+") next();
      skip_numbers();
    }
  }

  std::map<std::string_view, code_definition> definitions_;
  name_scope scope_;
  std::set<std::string_view> renamed_;
  std::map<std::string_view, std::string> digests_;
  unsigned depth_ = 0;
};

}  // namespace

code_map read_ptx_code(std::string_view ptx, std::string_view name, name_scope scope)
{
  return code_writer(definition_reader(ptx, name).read(), scope).write();
}

std::string_view read_ptx_origin(std::string_view ptx) noexcept
{
  return ptx.substr(0, ptx.find(".address_size"));
}

}  // namespace fatlink::detail
