// SPDX-License-Identifier: Apache-2.0
// Bytes in memory, as every reader here takes them. Units: bytes. Owns nothing.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// Bytes somebody else owns; valid as long as the owner.
using bytes_view = std::span<std::byte const>;

/// Bytes owned.
using byte_buffer = std::vector<std::byte>;

/// The 32 bytes of a SHA-256.
using digest256 = std::array<std::byte, 32>;

}  // namespace fatlink
