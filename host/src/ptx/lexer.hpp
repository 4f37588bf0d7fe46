// SPDX-License-Identifier: Apache-2.0
// The tokens of PTX text: the lexer drops comments and lines of a preprocessor (`# 1 "a.cu"`);
// white space, including newlines, only separates tokens. The token reader looks two tokens ahead
// and throws the parser's errors. Source: PTX ISA 9.0, "Syntax".
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fatlink::ptx {

/// Text that the parser does not accept. `what()` is "SOURCE:LINE: DETAIL".
class syntax_error : public std::runtime_error {
 public:
  enum class kind {
    malformed,    ///< not PTX
    unsupported,  ///< PTX that exceeds a limit of the parser; `detail()` names the feature
  };

  syntax_error(kind category, std::string source, unsigned line, std::string detail)
      : std::runtime_error(source + ":" + std::to_string(line) + ": " +
                           (category == kind::unsupported ? "unsupported: " : "") + detail),
        category_(category),
        source_(std::move(source)),
        line_(line),
        detail_(std::move(detail))
  {
  }
  [[nodiscard]] kind category() const noexcept { return category_; }
  [[nodiscard]] std::string const& source() const noexcept { return source_; }
  [[nodiscard]] unsigned line() const noexcept { return line_; }  ///< from 1
  [[nodiscard]] std::string const& detail() const noexcept { return detail_; }

 private:
  kind category_;
  std::string source_;
  unsigned line_;
  std::string detail_;
};

enum class token_kind {
  end,
  word,       ///< add, %r1, $L__BB0_2, _Z3foof
  directive,  ///< .f32, .L1::no_allocate: including the dot
  number,     ///< 12, 0x1F, 1.5e3, 0f3F800000, 42U
  string,     ///< including the quotes
  mark,       ///< one character of punctuation
};

struct token {
  token_kind kind = token_kind::end;
  std::string_view text = {};
  unsigned line = 1;       ///< from 1
  std::size_t offset = 0;  ///< of the first byte in the text
};

class lexer {
 public:
  explicit lexer(std::string_view text) noexcept : text_(text) {}
  /// The next token; at the end of the text a token of kind `end`, at every call.
  token next() noexcept;

 private:
  void skip_blanks() noexcept;
  /// Skips up to and including the first `end` at or after `begin`, or to the end of the text.
  void skip_past(std::string_view end, std::size_t begin) noexcept;
  [[nodiscard]] std::size_t end_of_word(std::size_t begin) const noexcept;
  [[nodiscard]] std::size_t end_of_number(std::size_t begin) const noexcept;
  [[nodiscard]] std::size_t end_of_directive(std::size_t begin) const noexcept;
  [[nodiscard]] char char_at(std::size_t index) const noexcept
  {
    return index < text_.size() ? text_[index] : '\0';
  }

  std::string_view text_;
  std::size_t position_ = 0;
  unsigned line_ = 1;
};

/// Finds the end of a directive without a semicolon, token by token: its grammar states it, not the
/// end of its line. Checked with ptxas 13.0.
///
///   .version N   .address_size N   .target WORD { "," WORD }   .file N STRING { "," N }
///   .loc N N N [ "," function_name LABEL [ "+" N ] ] [ "," inlined_at N N N ]
class unterminated_directive {
 public:
  static bool begins_with(token const& word) noexcept;
  /// `word`: begins_with(word) is true.
  explicit unterminated_directive(token const& word) noexcept;
  /// Whether `next`, the token after those that it took before, belongs to the directive too.
  bool takes(token const& next) noexcept;

 private:
  bool takes_more(token const& next) noexcept;

  std::string_view after_comma_ = {};  ///< what follows a comma, as in `expected_`
  std::string_view expected_ = {};     ///< kinds of the next tokens: n number, s string, w word
};

/// Every member that reads throws syntax_error (unsupported) after limits::k_tokens tokens.
class token_reader {
 public:
  /// `source` names the module in messages; it must outlive the reader.
  token_reader(std::string_view text, std::string const& source);

  [[nodiscard]] token const& peek() const noexcept { return lookahead_[0]; }
  [[nodiscard]] token const& second() const noexcept { return lookahead_[1]; }
  /// Whether the next token is `text`.
  [[nodiscard]] bool at(std::string_view text) const noexcept { return peek().text == text; }
  token next();
  /// Reads the next token if it is `text`; returns whether it was.
  bool accept(std::string_view text);
  /// @throws syntax_error (malformed) the next token is not `text`.
  void expect(std::string_view text);
  /// Reads the name of a function, variable, register or label; `description` describes it in
  /// messages.
  /// @throws syntax_error (malformed) the next token is not a word.
  std::string_view expect_name(std::string_view description);
  /// Reads an unsigned integer.
  /// @throws syntax_error (malformed) not an integer, or more than `maximum`.
  std::uint64_t expect_count(std::string_view description, std::uint64_t maximum);
  /// Whether the next tokens are `text`, with no blanks in between; `text` has one or two
  /// characters of punctuation.
  [[nodiscard]] bool at_mark(std::string_view text) const noexcept;
  /// Reads the unterminated_directive at the next token. Returns at most 16 tokens of it, which are
  /// all of `.loc`, with the directive as the first.
  std::vector<token> take_directive();
  /// Reads up to and including the next `end` outside of braces that open on the way.
  void skip_past(std::string_view end);

  /// Opening braces read so far, less closing ones.
  [[nodiscard]] std::int64_t brace_depth() const noexcept { return brace_depth_; }
  /// The text from `begin` to the end of the next token, at most 200 bytes.
  [[nodiscard]] std::string_view text_from(token const& begin) const noexcept;

  /// @throws syntax_error (malformed) at the next token.
  [[noreturn]] void fail(std::string const& detail) const;
  /// @throws syntax_error (unsupported) at the next token.
  [[noreturn]] void fail_unsupported(std::string const& feature) const;

 private:
  std::string_view text_;
  lexer lexer_;
  std::string const& source_;
  token lookahead_[2];
  std::int64_t brace_depth_ = 0;
  std::uint64_t token_count_ = 0;
};

}  // namespace fatlink::ptx
