// SPDX-License-Identifier: Apache-2.0
// Constants of the fatbin container, for its reader and its writer.
// Source: no public specification; observed with nvcc 13.0, pinned by tests/unit.
// Tables of all bytes: docs/fatbin_format.md.
#pragma once

#include <cstdint>

namespace fatlink::layout {

constexpr std::uint32_t k_magic = 0xBA55ED50;
constexpr std::uint16_t k_version = 1;
constexpr std::uint16_t k_container_header = 16;
constexpr std::uint16_t k_entry_version = 0x0101;
constexpr std::uint32_t k_least_entry_header = 64;
constexpr std::uint16_t k_concatenated = 0x100;  ///< kind of an entry that holds several
constexpr std::uint64_t k_flag_lz4 = 0x2000;
constexpr std::uint64_t k_flag_zstd = 0x8000;
constexpr std::uint64_t k_flag_scrambled = 0x10000;
constexpr std::uint64_t k_flag_arch_specific = 0x100000;
constexpr std::uint64_t k_flag_family_specific = 0x200000;
constexpr std::uint64_t k_flags_of_compression = k_flag_lz4 | k_flag_zstd | k_flag_scrambled;

}  // namespace fatlink::layout
