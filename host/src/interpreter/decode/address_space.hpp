// SPDX-License-Identifier: Apache-2.0
// The map of the device's 64-bit address space. Generic addresses are these; each window but the
// last is k_window_size bytes.
//
//   0x0000_1000_0000_0000  shared memory of the block, from offset 0
//   0x0000_2000_0000_0000  local memory of the thread
//   0x0000_3000_0000_0000  functions, k_function_stride bytes apart
//   0x0000_4000_0000_0000  the kernel's parameters
//   0x0000_7000_0000_0000  allocations
#pragma once

#include <cstdint>

namespace fatlink::interpreter {

constexpr std::uint64_t k_window_size = std::uint64_t{1} << 32;
constexpr std::uint64_t k_shared_window = 0x1000'0000'0000;
constexpr std::uint64_t k_local_window = 0x2000'0000'0000;
constexpr std::uint64_t k_function_window = 0x3000'0000'0000;
constexpr std::uint64_t k_parameter_window = 0x4000'0000'0000;
constexpr std::uint64_t k_allocations = 0x7000'0000'0000;
constexpr std::uint64_t k_function_stride = 16;

}  // namespace fatlink::interpreter
