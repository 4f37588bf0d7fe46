// SPDX-License-Identifier: Apache-2.0
#include "util/bytes/base64.hpp"

#include <nettle/base64.h>

#include <cstdint>

namespace fatlink::detail {

std::optional<std::string> decode_base64(std::string_view text)
{
  if (text.find_first_of(" \t\n\v\f\r") != std::string_view::npos)
    return std::nullopt;  // nettle skips them
  base64_decode_ctx state{};
  ::base64_decode_init(&state);
  std::string decoded(BASE64_DECODE_LENGTH(text.size()), '\0');
  auto size = decoded.size();
  auto* const bytes = reinterpret_cast<std::uint8_t*>(decoded.data());
  if (::base64_decode_update(&state, &size, bytes, text.size(), text.data()) == 0 ||
      ::base64_decode_final(&state) == 0)
    return std::nullopt;
  decoded.resize(size);
  return decoded;
}

std::string encode_base64(std::string_view bytes)
{
  std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  ::base64_encode_raw(text.data(), bytes.size(),
                      reinterpret_cast<std::uint8_t const*>(bytes.data()));
  return text;
}

}  // namespace fatlink::detail
