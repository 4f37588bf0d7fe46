// SPDX-License-Identifier: Apache-2.0
#include "util/bytes/sha256.hpp"

#include <cstdint>

namespace fatlink::detail {

static_assert(SHA256_DIGEST_SIZE == std::tuple_size_v<digest256>);

sha256_hasher::sha256_hasher() noexcept
{
  ::sha256_init(&state_);
}

void sha256_hasher::add(bytes_view bytes) noexcept
{
  ::sha256_update(&state_, bytes.size(), reinterpret_cast<std::uint8_t const*>(bytes.data()));
}

digest256 sha256_hasher::finish() noexcept
{
  digest256 digest{};
  ::sha256_digest(&state_, digest.size(), reinterpret_cast<std::uint8_t*>(digest.data()));
  return digest;
}

digest256 sha256(bytes_view bytes) noexcept
{
  sha256_hasher hasher;
  hasher.add(bytes);
  return hasher.finish();
}

std::string to_hexadecimal(bytes_view bytes)
{
  constexpr char const* k_digits = "0123456789abcdef";
  std::string text;
  for (auto const byte : bytes) {
    text += k_digits[std::to_integer<unsigned>(byte) >> 4U];
    text += k_digits[std::to_integer<unsigned>(byte) & 15U];
  }
  return text;
}

}  // namespace fatlink::detail
