// SPDX-License-Identifier: Apache-2.0
// Encoded bytes: base64, and the compressed payloads of fatbins. Threads: no shared state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// Nothing where `text` is not base64 (a stray character, a wrong length, misplaced '=').
std::optional<std::string> decode_base64(std::string_view text);

/// With padding, on one line.
std::string encode_base64(std::string_view bytes);

/// Exactly `size` bytes of a zstd frame; empty if it is damaged, with the reason in `error`.
/// @throws std::bad_alloc, also where zstd cannot allocate.
std::string decompress_zstd(bytes_view frame, std::size_t size, std::string& error);
/// As above, of a raw LZ4 block.
std::string decompress_lz4(bytes_view block, std::size_t size, std::string& error);

}  // namespace fatlink::detail
