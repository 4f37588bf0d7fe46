// SPDX-License-Identifier: Apache-2.0
// Bounded decompression of fatbin payloads.
#pragma once

#include <string>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// Exactly `size` bytes of a zstd frame; empty if it is damaged, with the reason in `error`.
/// @throws std::bad_alloc, also where zstd cannot allocate.
std::string decompress_zstd(bytes_view frame, std::size_t size, std::string& error);
/// As above, of a raw LZ4 block.
std::string decompress_lz4(bytes_view block, std::size_t size, std::string& error);

}  // namespace fatlink::detail
