// SPDX-License-Identifier: Apache-2.0
#include "input/bare_entries.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "cubin/cubin.hpp"
#include "fatbin/entry_digests.hpp"
#include "input/refuse.hpp"
#include "ptx/lexer.hpp"
#include "util/text/format.hpp"

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

/// Whether text is PTX, by its structure: tokens, directives at module level, statements in blocks,
/// balanced braces. Names, operands and unknown directives are left to the assembler, so that PTX
/// of newer versions is accepted.
///
///   module    ::= { directive | block | ";" }
///   directive ::= unterminated                  .version, .target, .address_size, .file, .loc
///               | ".section" name "{" any "}"   DWARF
///               | ".name" any ( ";" | block )   a function, a variable, .pragma, .alias
///   block     ::= "{" { statement } "}"
///   statement ::= label ":" | unterminated | block | [ any ] ";"   begins with a word, "." or "@"
///
/// ptx/lexer.hpp has the grammar of unterminated directives, and skips lines that begin with `#`.
/// Lines that begin with `@@` (DWARF of PTX 2.0) are skipped. Source: PTX ISA 9.0, "Syntax" and
/// "Directives".
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
    if (depth_ > 0) fail_ptx(token_, "ends inside a block");
  }

 private:
  [[noreturn]] void fail_ptx(token const& place, std::string const& cause) const
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
      fail_ptx(token_, detail::format("has {}, which is not a token", shown(token_)));
  }

  [[nodiscard]] bool at(std::string_view text) const { return token_.text == text; }

  /// At module level.
  void check_directive()
  {
    if (at(";")) return advance();
    if (at("{")) return open();       // the body after a head with `.pragma "…";`
    if (at("@")) return skip_line();  // @@DWARF
    if (at("}")) fail_ptx(token_, "has '}' without '{'");
    if (token_.kind != token_kind::directive)
      fail_ptx(token_, detail::format("has {} where a directive must be", shown(token_)));
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
      fail_ptx(token_, detail::format("has {} where a statement must be", shown(token_)));
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
      if (token_.kind == token_kind::end) fail_ptx(token_, "ends inside a statement");
      if (at("{")) ++braces;
      if (at("}") && braces-- == 0) fail_ptx(token_, "has '}' inside a statement");
    }
    if (braces > 0) fail_ptx(token_, "has ';' between the braces of an operand");
    advance();
  }

  /// Skips the head of a function, or a variable with its initial values.
  void skip_declaration()
  {
    for (; !at(";"); advance()) {
      if (token_.kind == token_kind::end) fail_ptx(token_, "ends inside a directive");
      if (at("=")) return skip_past_semicolon();
      if (at("}")) fail_ptx(token_, "has '}' without '{'");
      if (at("{")) return open();
    }
    advance();
  }

  void skip_section()
  {
    while (!at("{")) {
      if (token_.kind == token_kind::end) fail_ptx(token_, "ends inside a directive");
      advance();
    }
    while (!at("}")) {
      if (token_.kind == token_kind::end) fail_ptx(token_, "ends inside a block");
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

/// Checks `text`, the whole of a PTX module. `name` is the file's, for messages.
/// @throws format_error (stage input) corrupt-ptx, with the line: bytes that are no token, a string
///   that does not end, text at module level that is no directive, text in a block that is no
///   statement, unbalanced braces, an end inside a statement.
void check_ptx_body(std::string_view text, std::string_view name)
{
  body_checker(text, name).check();
}

using ptx::token;
using ptx::token_kind;

constexpr std::size_t k_most_shown_bytes = 32;

bool is_control(char letter)
{
  auto const code = static_cast<unsigned char>(letter);
  return (code < 0x20 && (code < '\t' || code > '\r')) || code == 0x7F;
}

template <typename Integer>
bool read_number(std::string_view digits, Integer& value)
{
  auto const* const end = digits.data() + digits.size();
  auto const [stop, code] = std::from_chars(digits.data(), end, value);
  return code == std::errc{} && stop == end;
}

class head_reader {
 public:
  head_reader(std::string_view text, std::string_view name) : text_(text), name_(name), lexer_(text)
  {
  }

  ptx_text read()
  {
    check_characters();
    read_version();
    read_target();
    read_address_size();
    return head_;
  }

 private:
  [[noreturn]] void fail_ptx(std::size_t offset, std::string const& cause) const
  {
    refuse_ptx(text_, name_, offset, cause);
  }

  void check_characters() const
  {
    for (std::size_t offset = 0; offset < text_.size();) {
      if (text_[offset] == '\0') fail_ptx(offset, "has a NUL before its end");
      if (is_control(text_[offset]))
        fail_ptx(offset, detail::format("has the control character {:#04x}", text_[offset]));
      auto const size = utf8_size(text_.substr(offset));
      if (size == 0) fail_ptx(offset, "has bytes that are not UTF-8");
      offset += size;
    }
  }

  void expect(std::string_view directive)
  {
    auto const word = lexer_.next();
    if (word.text == directive) return;
    fail_ptx(word.offset, detail::format("has {} where {} must be", shown(word), directive));
  }

  static std::string shown(token const& word)
  {
    return word.kind == token_kind::end
               ? "its end"
               : detail::format("'{}'", printable(word.text.substr(0, k_most_shown_bytes)));
  }

  void read_version()
  {
    expect(".version");
    auto const version = lexer_.next();
    auto const dot = version.text.find('.');
    if (dot == std::string_view::npos ||
        !read_number(version.text.substr(0, dot), head_.version_major) ||
        !read_number(version.text.substr(dot + 1), head_.version_minor))
      fail_ptx(version.offset, detail::format("has {} where a version must be", shown(version)));
  }

  /// .target sm_90a, debug: the architecture is first, then options.
  void read_target()
  {
    expect(".target");
    auto const word = lexer_.next();
    if (!read_architecture(word.text))
      fail_ptx(word.offset, detail::format("has {} where a target must be", shown(word)));
    after_target_ = lexer_.next();
    while (after_target_.text == ",") {
      if (auto const option = lexer_.next(); option.kind != token_kind::word)
        fail_ptx(option.offset, detail::format("has {} where a target must be", shown(option)));
      after_target_ = lexer_.next();
    }
  }

  bool read_architecture(std::string_view text)
  {
    constexpr std::string_view k_prefix = "sm_";
    if (!text.starts_with(k_prefix)) return false;
    text.remove_prefix(k_prefix.size());
    auto const suffix = text.ends_with('a') || text.ends_with('f') ? text.back() : '\0';
    if (suffix != '\0') text.remove_suffix(1);
    unsigned number = 0;
    if (!read_number(text, number) || number < 10 || number > 999) return false;
    head_.target = target(number, suffix);
    return true;
  }

  void read_address_size()
  {
    if (after_target_.text != ".address_size")
      fail_ptx(after_target_.offset,
               "has no .address_size 64 after .target, so its addresses have 32 "
               "bits");
    auto const size = lexer_.next();
    if (size.text != "64")
      fail_ptx(size.offset, detail::format("has .address_size {}, not 64", shown(size)));
    head_.text = text_;
  }

  std::string_view text_;
  std::string_view name_;
  ptx::lexer lexer_;
  token after_target_;
  ptx_text head_;
};

}  // namespace

ptx_text read_ptx_text(bytes_view bytes, std::string_view name)
{
  std::string_view text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  text = text.substr(0, text.find_last_not_of('\0') + 1);
  auto const ptx = head_reader(text, name).read();
  check_ptx_body(text, name);
  return ptx;
}

namespace {

/// sm_90a code is not taken for sm_90 code.
[[noreturn]] void refuse_inexact(target number, std::string_view name)
{
  refuse_input(error_code::corrupt_cubin, name,
               detail::format("no note (.note.nv.tkinfo) states its exact target, which is "
                              "{0}, or {0} with a suffix",
                              number.name()),
               detail::format("compile it again, or pack it with its target: fatbinary "
                              "--create=FILE.fatbin --image3=kind=elf,sm={},file=FILE.cubin",
                              number.number()));
}

}  // namespace

fatbin_entry cubin_entry(bytes_view bytes, std::string_view name)
{
  auto const cubin = read_cubin(bytes, name);
  if (!cubin.has_exact_target) refuse_inexact(cubin.target, name);
  fatbin_entry entry;
  entry.kind = entry_kind::elf;
  entry.target = cubin.target;
  entry.version_major = 1;
  entry.version_minor = 8;
  entry.flags = flags_of(entry.target);
  entry.payload = bytes;
  entry.uncompressed_size = bytes.size();
  return entry;
}

fatbin_entry ptx_entry(ptx_text const& ptx)
{
  fatbin_entry entry;
  entry.kind = entry_kind::ptx;
  entry.target = ptx.target;
  entry.version_major = ptx.version_major;
  entry.version_minor = ptx.version_minor;
  entry.flags = flags_of(ptx.target);
  entry.payload = std::as_bytes(std::span(ptx.text));
  entry.uncompressed_size = ptx.text.size();
  return entry;
}

fatbin_entry ltoir_entry(bytes_view bytes, ltoir_header const& header)
{
  fatbin_entry entry;
  entry.kind = entry_kind::ltoir;
  entry.target = header.target;
  entry.version_major = static_cast<std::uint16_t>(header.container.major);
  entry.version_minor = static_cast<std::uint16_t>(header.container.minor);
  entry.flags = flags_of(header.target);
  entry.payload = bytes;
  entry.uncompressed_size = bytes.size();
  return entry;
}

}  // namespace fatlink::detail
