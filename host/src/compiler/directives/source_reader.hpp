// SPDX-License-Identifier: Apache-2.0
// Reads the words, comments and literals of C++ text whose lines are joined (joined_text), from its
// start to its end; no letter is read more than twice. Source: C++20, [lex.phases].
// Threads: no shared state.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fatlink::detail {

class source_reader {
 public:
  /// `text` must outlive it.
  explicit source_reader(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t position() const noexcept { return position_; }
  /// Whether the text ends here.
  [[nodiscard]] bool is_at_end() const noexcept { return position_ >= text_.size(); }
  /// Whether a line or the text ends here.
  [[nodiscard]] bool is_at_line_end() const noexcept
  {
    return is_at_end() || text_[position_] == '\n';
  }
  /// Whether the next letter is `letter`.
  [[nodiscard]] bool is_at(char letter) const noexcept
  {
    return !is_at_end() && text_[position_] == letter;
  }

  /// Skips blanks and comments, also those of several lines.
  void skip_blank();
  /// Reads letters, digits and underscores; empty if there are none.
  std::string_view read_word();
  /// Skips the separator of digits, after a word: 1'000.
  void skip_rest_of_number();
  /// Skips "#", also spelled "%:". Returns false if there is none.
  bool skip_hash();
  /// Skips a word, a literal, a comment or another letter.
  void skip_token();
  /// Skips what is left of the line of a directive. Comments may have line ends.
  void skip_line();
  /// Skips what is left of a line of other text: to its end, or to that of a comment of several
  /// lines, after which NVRTC also reads a directive.
  void skip_text_line();
  /// Skips `size` letters.
  void skip(std::size_t size) { position_ += size; }
  /// Reads what is left of the line of a directive, with a blank for each comment. Reading ends
  /// after `limit` letters. Empty if a raw string goes on in the next line.
  std::string read_line(std::size_t limit);
  /// Reads "<name>" or "\"name\"" at its first letter: the name. Empty, and only that letter is
  /// skipped, if the line has no end of it.
  std::string_view read_header_name();

 private:
  [[nodiscard]] bool begins(std::string_view text) const;
  bool skip_comment();
  void skip_literal();
  void skip_raw_string();

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t word_ = 0;  ///< where the last word begins
};

}  // namespace fatlink::detail
