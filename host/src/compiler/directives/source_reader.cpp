// SPDX-License-Identifier: Apache-2.0
#include "compiler/directives/source_reader.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "compiler/directives/directive_text.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_longest_delimiter = 16;  ///< of a raw string

constexpr std::array<bool, 256> table_of(std::string_view letters)
{
  std::array<bool, 256> table{};
  for (auto const letter : letters) table[static_cast<unsigned char>(letter)] = true;
  return table;
}

constexpr auto k_words = table_of(k_word);
constexpr auto k_blanks = table_of(k_blank);

bool is_in(std::array<bool, 256> const& table, char letter)
{
  return table[static_cast<unsigned char>(letter)];
}

/// Whether `word` before a quote begins a raw string.
bool is_raw(std::string_view word)
{
  return word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
}

}  // namespace

bool source_reader::begins(std::string_view text) const
{
  return text_.substr(position_).starts_with(text);
}

bool source_reader::skip_comment()
{
  if (!is_at('/')) return false;
  if (begins("/*")) {
    auto const close = text_.find("*/", position_ + 2);
    position_ = close == std::string_view::npos ? text_.size() : close + 2;
    return true;
  }
  if (!begins("//")) return false;
  while (!is_at_line_end()) ++position_;
  return true;
}

void source_reader::skip_blank()
{
  while (!is_at_end())
    if (is_in(k_blanks, text_[position_]))
      ++position_;
    else if (!skip_comment())
      return;
}

std::string_view source_reader::read_word()
{
  word_ = position_;
  while (!is_at_end() && is_in(k_words, text_[position_])) ++position_;
  return text_.substr(word_, position_ - word_);
}

/// R"x(…)x" at its quote. Without its end, the rest of the text is in it.
void source_reader::skip_raw_string()
{
  auto const delimiter_start = position_ + 1;
  auto const open =
      text_.substr(0, delimiter_start + k_longest_delimiter + 1).find('(', delimiter_start);
  if (open == std::string_view::npos) {
    ++position_;
    return;
  }
  auto const delimiter = text_.substr(delimiter_start, open - delimiter_start);
  std::string close(1, ')');
  close.append(delimiter).push_back('"');
  auto const end = text_.find(close, open);
  position_ = end == std::string_view::npos ? text_.size() : end + delimiter.size() + 2;
}

/// At its quote; without its end, it ends with the line.
void source_reader::skip_literal()
{
  auto const quote = text_[position_];
  if (quote == '"' && is_raw(text_.substr(word_, position_ - word_))) {
    skip_raw_string();
    return;
  }
  for (++position_; !is_at_line_end();) {
    auto const letter = text_[position_++];
    if (letter == quote) return;
    if (letter == '\\' && !is_at_line_end()) ++position_;
  }
}

void source_reader::skip_rest_of_number()
{
  if (word_ < position_ && is_decimal(text_[word_]) && is_at('\'')) ++position_;
}

bool source_reader::skip_hash()
{
  auto const size = is_at('#') ? 1U : begins("%:") ? 2U : 0U;
  position_ += size;
  return size > 0;
}

void source_reader::skip_token()
{
  if (skip_comment()) return;
  auto const letter = text_[position_];
  if (is_in(k_words, letter)) {
    (void)read_word();
    skip_rest_of_number();
  } else if (letter == '"' || letter == '\'') {
    skip_literal();
  } else {
    ++position_;
  }
}

void source_reader::skip_line()
{
  while (!is_at_line_end()) skip_token();
  if (!is_at_end()) ++position_;
}

void source_reader::skip_text_line()
{
  while (!is_at_line_end()) {
    auto const start = position_;
    if (!skip_comment())
      skip_token();
    else if (text_.substr(start, position_ - start).find('\n') != std::string_view::npos)
      return;
  }
  if (!is_at_end()) ++position_;
}

std::string source_reader::read_line(std::size_t limit)
{
  std::string line;
  while (!is_at_line_end() && line.size() < limit) {
    auto const start = position_;
    if (skip_comment()) {
      line += ' ';
      continue;
    }
    skip_token();
    line += text_.substr(start, std::min(position_ - start, limit - line.size()));
  }
  return line.find('\n') == std::string::npos ? line : std::string();
}

std::string_view source_reader::read_header_name()
{
  auto const close = text_[position_] == '<' ? '>' : '"';
  auto const start = ++position_;
  auto end = start;
  while (end < text_.size() && text_[end] != close && text_[end] != '\n' &&
         (text_[end] != '<' || close == '"'))
    ++end;
  if (end == text_.size() || text_[end] != close) return {};
  position_ = end + 1;
  return text_.substr(start, end - start);
}

}  // namespace fatlink::detail
