// SPDX-License-Identifier: Apache-2.0
// Types for bytes in memory.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// Bytes owned by another object; valid while that object exists.
using bytes_view = std::span<std::byte const>;

/// Owned bytes.
using byte_buffer = std::vector<std::byte>;

/// The 32 bytes of a SHA-256 digest.
using digest256 = std::array<std::byte, 32>;

}  // namespace fatlink
