// SPDX-License-Identifier: Apache-2.0
#include "util/bytes/sha256.hpp"

#include <nettle/base16.h>

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
  std::string text(BASE16_ENCODE_LENGTH(bytes.size()), '\0');
  ::base16_encode_update(text.data(), bytes.size(),
                         reinterpret_cast<std::uint8_t const*>(bytes.data()));
  return text;
}

}  // namespace fatlink::detail
