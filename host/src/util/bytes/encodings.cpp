// SPDX-License-Identifier: Apache-2.0
#include "util/bytes/encodings.hpp"

#include <lz4.h>
#include <nettle/base64.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <cstdint>
#include <limits>
#include <new>

#include "util/text/format.hpp"

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

std::string decompress_zstd(bytes_view frame, std::size_t size, std::string& error)
{
  std::string text(size, '\0');
  auto const written = ZSTD_decompress(text.data(), size, frame.data(), frame.size());
  if (ZSTD_getErrorCode(written) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  if (ZSTD_isError(written) != 0) {
    error = detail::format("zstd: {}", ZSTD_getErrorName(written));
    return {};
  }
  if (written == size) return text;
  error = detail::format("zstd: {} bytes instead of {}", written, size);
  return {};
}

std::string decompress_lz4(bytes_view block, std::size_t size, std::string& error)
{
  constexpr std::size_t k_most = std::numeric_limits<int>::max();
  if (block.size() > k_most || size > k_most) {
    error = "lz4: block too large";
    return {};
  }
  std::string text(size, '\0');
  auto const written = LZ4_decompress_safe(reinterpret_cast<char const*>(block.data()), text.data(),
                                           static_cast<int>(block.size()), static_cast<int>(size));
  if (written >= 0 && static_cast<std::size_t>(written) == size) return text;
  error = written < 0 ? "lz4: damaged block"
                      : detail::format("lz4: {} bytes instead of {}", written, size);
  return {};
}

}  // namespace fatlink::detail
