// SPDX-License-Identifier: Apache-2.0
// The ranges of what formulas of a plan compute. Source: CUDA C++ Programming Guide 13.0,
// "Technical Specifications per Compute Capability", the same for all architectures that CUDA 13
// supports. Threads: no shared state. Each function throws expression_error for a value out of
// range.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fatlink/element_type.hpp"

namespace fatlink::detail {

/// Blocks of a grid in `dimension` 0 to 2: 0 to 2^31 - 1 in x, 0 to 65,535 in y and z.
unsigned check_grid(std::int64_t blocks, std::size_t dimension);
/// Threads of a block in `dimension` 0 to 2: 1 to 1,024 in x and y, 1 to 64 in z.
unsigned check_block(std::int64_t threads, std::size_t dimension);
/// Threads of a block in all dimensions together: at most 1,024.
void check_block_threads(std::array<unsigned, 3> const& block);
/// Dynamic shared memory of a block: 0 to 2^31 - 1 bytes. Devices have less, and refuse more.
std::size_t check_shared_bytes(std::int64_t bytes);
/// An extent of an array: 0 or more.
std::size_t check_extent(std::int64_t count);
/// A value that is passed as the integer type `type`.
void check_fits(std::int64_t value, element_type const& type);

/// Whether `value` is in the range of the integer type `type`.
bool fits(std::int64_t value, element_type const& type) noexcept;
bool is_integer(element_type const& type) noexcept;

}  // namespace fatlink::detail
