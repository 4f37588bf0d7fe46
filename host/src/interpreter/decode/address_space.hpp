// SPDX-License-Identifier: Apache-2.0
// The map of the device's 64-bit address space. Generic addresses are these; each window but the
// last is k_window_size bytes.
// //
//   0x0000_1000_0000_0000  shared memory of the block, from offset 0; that of the cluster's block
//                          of rank r from offset (r + 1) << 24
//   0x0000_2000_0000_0000  local memory of the thread
//   0x0000_3000_0000_0000  functions, k_function_stride bytes apart
//   0x0000_4000_0000_0000  the kernel's parameters
//   0x0000_5000_0000_0000  handles of textures and surfaces, k_object_stride apart
//   0x0000_7000_0000_0000  allocations
#pragma once

#include <cstdint>

namespace fatlink::interpreter {

constexpr std::uint64_t k_window_size = std::uint64_t{1} << 32;
constexpr std::uint64_t k_shared_window = 0x1000'0000'0000;
constexpr std::uint64_t k_local_window = 0x2000'0000'0000;
constexpr std::uint64_t k_function_window = 0x3000'0000'0000;
constexpr std::uint64_t k_parameter_window = 0x4000'0000'0000;
constexpr std::uint64_t k_object_window = 0x5000'0000'0000;
constexpr std::uint64_t k_allocations = 0x7000'0000'0000;
constexpr std::uint64_t k_function_stride = 16;
constexpr std::uint64_t k_object_stride = 16;
constexpr unsigned k_rank_at = 24;  ///< in offsets of shared memory: the rank of a block, plus 1

/// The place of block `rank` of the cluster that corresponds to `address` in a block's shared
/// memory; the address is generic or an offset.
constexpr std::uint64_t address_in_cluster(std::uint64_t address, std::uint64_t rank) noexcept
{
  constexpr auto k_offset = (std::uint64_t{1} << k_rank_at) - 1;
  return (address & ~(k_window_size - 1)) | (rank + 1) << k_rank_at | (address & k_offset);
}

/// The smallest multiple of `alignment` that is not below `offset`.
constexpr std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) noexcept
{
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace fatlink::interpreter
