// SPDX-License-Identifier: Apache-2.0
#include "ptx/ptx_code.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "ptx/lexer.hpp"
#include "ptx/ptx_source.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink::detail {
namespace {

using code_map = std::map<std::string, std::string, std::less<>>;

/// How far calls of functions without linkage, and copies of a value, are followed: a chain may be
/// as long as a module.
constexpr unsigned k_deepest = 64;

/// Splits a module into its definitions.
class definition_reader {
 public:
  definition_reader(std::string_view ptx, std::string_view name)
      : ptx_(ptx), lexer_(ptx), source_(ptx, name)
  {
    next();
  }

  std::map<std::string_view, ptx_definition> read()
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
      read_definition(word == ".func" || word == ".entry", word == ".entry");
    } else if (word == "{") {
      skip_block();
    } else {
      next();
    }
  }

  /// The braces of a function hold its body, those of a variable its initial value.
  void read_definition(bool is_function, bool is_kernel)
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
        add(name, {ptx_.substr(begin, offset + 1 - begin), has_linkage_, is_kernel},
            is_function && !has_braces);
        return;
      }
    }
  }

  void add(std::string_view name, ptx_definition definition, bool is_declaration)
  {
    has_linkage_ = false;
    if (!is_declaration && !name.empty()) definitions_.try_emplace(name, definition);
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
  std::map<std::string_view, ptx_definition> definitions_;
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

using token_list = std::vector<ptx::token>;
using local_names = std::map<std::string_view, std::size_t>;

/// Whether the number in a name depends on what else is in the module: registers, labels, stack
/// frames, types of calls.
bool is_local(std::string_view word)
{
  return word.starts_with('%') || word.starts_with('$') || word.starts_with("__local_depot") ||
         word.starts_with("prototype_");
}

/// Skips `.loc FILE LINE COLUMN[, function_name LABEL[+N]][, inlined_at FILE LINE COLUMN]` and the
/// labels of debug information ($L__tmp3:).
class debug_skipper {
 public:
  explicit debug_skipper(std::string_view text) : lexer_(text), token_(lexer_.next()) {}

  /// The next token that is code.
  ptx::token next()
  {
    for (;;) {
      auto const token = take();
      if (token.text == ".loc")
        skip_location();
      else if (token.text.starts_with("$L__tmp") && token_.text == ":")
        take();
      else
        return token;
    }
  }

 private:
  ptx::token take() { return std::exchange(token_, lexer_.next()); }

  void skip_numbers()
  {
    while (token_.kind == ptx::token_kind::number) take();
  }

  void skip_location()
  {
    skip_numbers();
    while (token_.text == ",") {
      take();
      if (take().text == "function_name") take();
      if (token_.text == "+") take();
      skip_numbers();
    }
  }

  ptx::lexer lexer_;
  ptx::token token_;
};

token_list read_tokens(std::string_view text)
{
  token_list tokens;
  debug_skipper code(text);
  for (auto token = code.next(); token.kind != ptx::token_kind::end; token = code.next())
    tokens.push_back(token);
  return tokens;
}

/// The registers that one instruction of a function writes, which only copies a value:
/// `mov.TYPE REGISTER, VALUE;`, cvta, and cvt of a name. Whether uses of one constant or address
/// share a register depends on the order of the functions in a module.
class copied_values {
 public:
  explicit copied_values(token_list const& tokens)
  {
    std::map<std::string_view, unsigned> writes;
    auto is_start = true;
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      if (is_start) note_statement(tokens, at, writes);
      auto const word = tokens[at].text;
      is_start = word == ";" || word == "{" || word == "}" || word == ":";
    }
    std::erase_if(values_, [&](auto const& entry) { return writes[entry.first] != 1; });
    for (auto const& [name, copied] : values_) copies_.insert(copied.at);
  }

  /// Whether the instruction at `at` only writes such a register.
  [[nodiscard]] bool is_copy(std::size_t at) const { return copies_.contains(at); }
  /// What `name` holds: a number, a name or an address; null if it is no such register.
  [[nodiscard]] token_list const* find(std::string_view name) const
  {
    auto const entry = values_.find(name);
    return entry == values_.end() ? nullptr : &entry->second.tokens;
  }

 private:
  struct value {
    token_list tokens;
    std::size_t at;  ///< of the instruction
  };

  void note_statement(token_list const& tokens, std::size_t begin,
                      std::map<std::string_view, unsigned>& writes)
  {
    auto const text = [&](std::size_t at) {
      return at < tokens.size() ? tokens[at].text : std::string_view();
    };
    auto at = begin;
    if (text(at) == "@") at += text(at + 1) == "!" ? 3 : 2;
    auto const operation = at == begin ? text(at) : std::string_view();
    for (++at; text(at).starts_with('.');) ++at;
    // REGISTER, REGISTER|REGISTER or {REGISTER, ...}
    auto const first = text(at);
    for (auto const in_braces = first == "{"; !text(at).empty(); ++at) {
      if (text(at).starts_with('%')) ++writes[text(at)];
      if (text(at) == ";" || text(at) == "}" || (text(at) == "," && !in_braces) || text(at) == "[")
        break;
    }
    if (!first.starts_with('%') || text(at) != "," || text(at + 1) == "{") return;
    if (operation != "mov" && operation != "cvta" &&
        (operation != "cvt" || text(at + 1).starts_with('%')))
      return;
    value copied{{}, begin};
    for (++at; at < tokens.size() && tokens[at].text != ";"; ++at)
      copied.tokens.push_back(tokens[at]);
    values_.insert_or_assign(first, std::move(copied));
  }

  std::map<std::string_view, value> values_;
  std::set<std::size_t> copies_;
};

/// Whether `name` is that of a function or variable with internal linkage, in which nvcc and NVRTC
/// write a digest of the translation unit: _INTERNAL_5eb4f7b6_…, _ZN43_INTERNAL_5eb4f7b6_….
bool is_internal(std::string_view name)
{
  if (name.starts_with("_ZN")) {
    name.remove_prefix(3);
    name.remove_prefix(std::min(name.find_first_not_of("0123456789"), name.size()));
  }
  return name.starts_with("_INTERNAL_");
}

/// Writes definitions as comparable text.
class code_writer {
 public:
  code_writer(std::map<std::string_view, ptx_definition> definitions, name_scope scope)
      : definitions_(std::move(definitions)), scope_(scope)
  {
    for (auto const& [name, definition] : definitions_)
      if (auto const base = base_of(name); base != name) renamed_.insert({base, name});
  }

  code_map write()
  {
    code_map code;
    for (auto const& [name, definition] : definitions_)
      if (!is_private(name, definition) && !(definition.is_kernel && scope_ == name_scope::linked))
        code.emplace(name, write(name, definition));
    return code;
  }

 private:
  [[nodiscard]] bool is_private(std::string_view name, ptx_definition const& definition) const
  {
    if (scope_ == name_scope::module) return !definition.has_linkage;
    return name.starts_with('$') || is_internal(name) || renamed_.contains(name);
  }

  std::string write(std::string_view name, ptx_definition const& definition)
  {
    return function_text(*this, name, definition.text).write();
  }

  /// Writes one definition. Names of the module are those of `module`.
  class function_text {
   public:
    function_text(code_writer& module, std::string_view name, std::string_view text)
        : module_(module), name_(name), tokens_(read_tokens(text)), copies_(tokens_)
    {
    }

    std::string write()
    {
      auto is_start = true;
      for (std::size_t at = 0; at < tokens_.size(); ++at) {
        auto const word = tokens_[at].text;
        if (is_start && (word == "{" || word == "}")) continue;  // a block
        if (word == ".reg" || copies_.is_copy(at)) {  // the uses of the registers show these
          while (at < tokens_.size() && tokens_[at].text != ";") ++at;
          continue;
        }
        is_start = word == ";" || word == ":";
        write_token(tokens_[at], 0);
      }
      return std::move(text_);
    }

   private:
    /// `depth`: how many copies were followed.
    void write_token(ptx::token const& token, unsigned depth)
    {
      auto const word = token.text;
      auto const* const copied = copies_.find(word);
      if (copied != nullptr && depth < k_deepest)
        for (auto const& part : *copied) write_token(part, depth + 1);
      else if (token.kind != ptx::token_kind::word || !write_name(word))
        text_.append(" ").append(word);
    }

    /// Whether `word` is a name that has another text in another module.
    bool write_name(std::string_view word)
    {
      auto const other = module_.definitions_.find(word);
      if (word.starts_with(name_) &&
          (word.size() == name_.size() || word.substr(name_.size()).starts_with("_param_")))
        text_.append(" @").append(word.substr(name_.size()));
      else if (other != module_.definitions_.end() && module_.is_private(word, other->second))
        text_.append(" ").append(module_.digest_of(word, other->second));
      else if (other == module_.definitions_.end() && is_local(word))
        text_.append(" %").append(
            std::to_string(locals_.try_emplace(word, locals_.size()).first->second));
      else
        return false;
      return true;
    }

    code_writer& module_;
    std::string_view name_;
    token_list tokens_;
    copied_values copies_;
    local_names locals_;
    std::string text_;
  };

  /// The digest of what `name` defines, in place of its name.
  std::string const& digest_of(std::string_view name, ptx_definition const& definition)
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

  std::map<std::string_view, ptx_definition> definitions_;
  name_scope scope_;
  std::set<std::string_view> renamed_;
  std::map<std::string_view, std::string> digests_;
  unsigned depth_ = 0;
};

}  // namespace

std::map<std::string_view, ptx_definition> read_ptx_definitions(std::string_view ptx,
                                                                std::string_view name)
{
  return definition_reader(ptx, name).read();
}

code_map read_ptx_code(std::string_view ptx, std::string_view name, name_scope scope)
{
  return code_writer(read_ptx_definitions(ptx, name), scope).write();
}

std::string_view read_ptx_origin(std::string_view ptx) noexcept
{
  return ptx.substr(0, ptx.find(".address_size"));
}

}  // namespace fatlink::detail
