// SPDX-License-Identifier: Apache-2.0
// Splits the text of an expression, or of a plan's "computes", into words:
//   <word>   ::= <name> | <number> | <symbol>
//   <name>   ::= a letter, "_" or "$", then letters, digits, "_", "$" and "."
//   <number> ::= a digit, or "." and a digit, then letters, digits, "_", "$" and ".", and a sign
//                after "e": "12", "0.5", "1e-3"
//   <symbol> ::= "<=" | ">=" | "==" | "!=" | "&&" | "||" | any other printable character
// Spaces separate words. The text must outlive the object. Threads: for one thread at a time.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace fatlink::detail {

/// What is wrong with an expression, without the place of it: callers add the file and the path
/// within the JSON. Never leaves the library.
class expression_error : public std::runtime_error {
 public:
  expression_error(std::string const& cause, std::string hint)
      : std::runtime_error(cause), hint_(std::move(hint))
  {
  }

  /// The remedy; may be empty.
  [[nodiscard]] std::string const& hint() const noexcept { return hint_; }
  /// The remedy, then one for all errors: "did you mean sin? write an expression in x".
  [[nodiscard]] std::string hint_with(std::string const& general) const
  {
    if (hint_.empty()) return general;
    return hint_ + (hint_.ends_with('?') ? " " : "; ") + general;
  }

 private:
  std::string hint_;
};

class expression_words {
 public:
  enum class kind : std::uint8_t { end, name, number, symbol };

  /// `document`: the page that describes the text, for hints.
  /// @throws expression_error the text is longer than limits::k_expression_bytes.
  explicit expression_words(std::string_view text, char const* document = "docs/expressions.md");

  /// The kind of the current word.
  [[nodiscard]] kind current_kind() const noexcept { return kind_; }
  /// The current word; empty at the end.
  [[nodiscard]] std::string_view current() const noexcept { return word_; }
  /// The character that the current word begins at, from 1.
  [[nodiscard]] std::size_t place() const noexcept { return place_ + 1; }

  /// Whether the current word is the symbol or name `word`.
  [[nodiscard]] bool is(std::string_view word) const noexcept;
  /// Goes on to the next word, and returns the current one.
  std::string_view take();
  /// Goes on to the next word if the current one is `word`; else returns false.
  bool take_if(std::string_view word);
  /// As take_if. @throws expression_error the current word is another one.
  void expect(std::string_view word);
  /// The value of the current word; goes on to the next one.
  /// @throws expression_error it is no whole number, or above 2^63 - 1.
  std::int64_t take_number();
  /// The current word, a name. @throws expression_error it is none; `what` says what is expected.
  std::string_view take_name(char const* what);
  /// @throws expression_error the text goes on.
  void expect_end();
  /// @throws expression_error "expected WHAT at character 5, found ')'".
  [[noreturn]] void fail_expected(std::string const& what) const;

 private:
  void read_word();

  std::string_view text_;
  char const* document_;
  std::string_view word_ = {};
  std::size_t place_ = 0;
  kind kind_ = kind::end;
};

/// @throws expression_error `word`, a number at this character, is no whole number.
[[noreturn]] void fail_fraction(std::string_view word, std::size_t place);
/// @throws expression_error `word`, a number, is above 2^63 - 1.
[[noreturn]] void fail_large(std::string_view word);

/// Counts how deeply a text nests while the object lives. @throws expression_error deeper than
/// limits::k_expression_depth.
class nesting_level {
 public:
  explicit nesting_level(unsigned& depth);
  ~nesting_level() { --depth_; }
  nesting_level(nesting_level const&) = delete;
  nesting_level& operator=(nesting_level const&) = delete;

 private:
  unsigned& depth_;
};

}  // namespace fatlink::detail
