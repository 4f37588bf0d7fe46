// SPDX-License-Identifier: Apache-2.0
// Bounded decompression of fatbin payloads.
#pragma once

#include <string>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// Exactly `size` bytes out of a zstd frame; empty on damage, `error` says which.
std::string decompress_zstd(bytes_view frame, std::size_t size, std::string& error);
/// The same out of a raw LZ4 block.
std::string decompress_lz4(bytes_view block, std::size_t size, std::string& error);

}  // namespace fatlink::detail
