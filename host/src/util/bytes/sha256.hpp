// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), by nettle: it uses the processor's SHA instructions and loads quickly; the
// relocations of libcrypto would be noticeable in a process that runs for milliseconds.
#pragma once

#include <nettle/sha2.h>

#include <string>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// The digest of bytes that are added in pieces.
class sha256_hasher {
 public:
  sha256_hasher() noexcept;
  void add(bytes_view bytes) noexcept;
  digest256 finish() noexcept;

 private:
  ::sha256_ctx state_{};
};

digest256 sha256(bytes_view bytes) noexcept;

/// In lower case.
std::string to_hexadecimal(bytes_view bytes);

}  // namespace fatlink::detail
