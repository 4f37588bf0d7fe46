// SPDX-License-Identifier: Apache-2.0
#include "util/bytes/base64.hpp"

#include <array>
#include <cstdint>

namespace fatlink::detail {
namespace {

constexpr std::string_view k_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t k_no_digit = 0xFF;

/// The value of each character; k_no_digit where it is no digit.
constexpr auto k_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(k_no_digit);
  for (std::size_t i = 0; i < k_alphabet.size(); ++i)
    values[static_cast<unsigned char>(k_alphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text)
{
  if (text.size() % 4 != 0) return std::nullopt;
  auto digits = text;
  for (int pad = 0; pad < 2 && digits.ends_with('='); ++pad) digits.remove_suffix(1);

  std::string decoded;
  decoded.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (char const digit : digits) {
    auto const value = k_values[static_cast<unsigned char>(digit)];
    if (value == k_no_digit) return std::nullopt;
    bits = (bits << 6) | value;
    count += 6;
    if (count >= 8) decoded += static_cast<char>((bits >> (count -= 8)) & 0xFFU);
  }
  return decoded;
}

std::string encode_base64(std::string_view bytes)
{
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (char const byte : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) text += k_alphabet[(bits >> (count - 6)) & 63U];
  }
  if (count > 0) text += k_alphabet[(bits << (6 - count)) & 63U];
  text.resize((text.size() + 3) / 4 * 4, '=');
  return text;
}

}  // namespace fatlink::detail
