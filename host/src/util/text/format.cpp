// SPDX-License-Identifier: Apache-2.0
#include "util/text/format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fatlink::detail {
std::string format_arguments(fmt::string_view text, fmt::format_args arguments)
{
  return fmt::vformat(text, arguments);
}

std::string_view trim(std::string_view text)
{
  constexpr char const* k_white_space = " \t\r\n";
  auto const begin = text.find_first_not_of(k_white_space);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(k_white_space) + 1 - begin);
}

namespace {

/// One character, or one byte that begins none.
struct character {
  std::size_t size = 1;  ///< bytes
  std::uint32_t code_point = 0;
  bool is_valid = false;
};

std::size_t size_by_lead(unsigned char lead)
{
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

/// The first character of `text`, by RFC 3629: neither overlong nor a surrogate.
character first_character(std::string_view text)
{
  constexpr unsigned char k_lead_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  constexpr std::uint32_t k_smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  auto const size = size_by_lead(static_cast<unsigned char>(text[0]));
  if (size == 0 || size > text.size()) return {};
  std::uint32_t value = static_cast<unsigned char>(text[0]) & k_lead_bits[size];
  for (char const byte : text.substr(1, size - 1)) {
    if ((static_cast<unsigned char>(byte) & 0xC0) != 0x80) return {};
    value = value << 6 | (static_cast<unsigned char>(byte) & 0x3F);
  }
  auto const is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < k_smallest[size] || value > 0x10FFFF || is_surrogate) return {};
  return {size, value, true};
}

bool is_printable(character const& character)
{
  auto const code = character.code_point;
  auto const is_mark = code == 0x061C || code == 0x200E || code == 0x200F;
  auto const reorders =
      is_mark || (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  auto const is_control = (code < 0x20 && code != '\n' && code != '\t') || code == 0x7F ||
                          (code >= 0x80 && code < 0xA0);
  return character.is_valid && !is_control && !reorders;
}

}  // namespace

std::string printable(std::string_view text)
{
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    auto const character = first_character(text);
    auto const bytes = text.substr(0, character.size);
    if (is_printable(character))
      result += bytes;
    else
      for (char const byte : bytes)
        result += detail::format("\\x{:02x}", static_cast<unsigned char>(byte));
    text.remove_prefix(character.size);
  }
  return result;
}

std::size_t utf8_size(std::string_view text)
{
  auto const character = first_character(text);
  return character.is_valid ? character.size : 0;
}

std::string one_line(std::string_view text)
{
  auto line = printable(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return line;
}

std::string printable_line(std::string_view text)
{
  constexpr std::size_t k_longest = 100;
  return one_line(text.substr(0, k_longest));
}

std::string in_quotes(std::string_view text)
{
  auto const line = printable_line(text);
  return detail::format("\"{}{}\"", line, line.size() < text.size() ? "…" : "");
}

std::string shell_word(std::string_view text)
{
  constexpr std::string_view k_plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:@,";
  if (!text.empty() && text.find_first_not_of(k_plain) == std::string_view::npos)
    return std::string(text);
  std::string word = "'";
  for (auto const letter : text)
    word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + "'";
}

}  // namespace fatlink::detail
