// SPDX-License-Identifier: Apache-2.0
// Bytes in memory, as every reader here takes them. Units: bytes. Owns nothing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fatlink {

/// Bytes somebody else owns; valid as long as the owner.
using bytes_view = std::span<std::byte const>;

/// Bytes owned.
using byte_buffer = std::vector<std::byte>;

}  // namespace fatlink
