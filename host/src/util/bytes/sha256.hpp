// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), by nettle: it uses the processor's SHA instructions, and loading it costs a
// process that is over in milliseconds nothing that shows, which libcrypto's relocations do.
#pragma once

#include <nettle/sha2.h>

#include <string>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// The digest of what it was given, in pieces.
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
