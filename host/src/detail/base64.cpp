// SPDX-License-Identifier: Apache-2.0
#include "detail/base64.hpp"

#include <cstdint>

namespace fatlink::detail {
namespace {

constexpr std::string_view k_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> decode_base64(std::string_view text)
{
  if (text.size() % 4 != 0) return std::nullopt;
  auto digits = text;
  for (int pad = 0; pad < 2 && digits.ends_with('='); ++pad) digits.remove_suffix(1);

  std::string decoded;
  std::uint32_t bits = 0;
  int count = 0;
  for (char const digit : digits) {
    auto const value = k_alphabet.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) decoded += static_cast<char>((bits >> (count -= 8)) & 0xFFU);
  }
  return decoded;
}

std::string encode_base64(std::string_view bytes)
{
  std::string text;
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
