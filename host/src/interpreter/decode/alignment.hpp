// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace fatlink::interpreter {

/// The smallest multiple of `alignment` that is not below `offset`.
constexpr std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) noexcept
{
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace fatlink::interpreter
