// SPDX-License-Identifier: Apache-2.0
// Writes fatbins: one entry for nvJitLink, or several in the layout of nvcc and of NVIDIA's
// fatbinary. nvJitLink chooses among the entries of a fatbin by its own rules (SASS before PTX), so
// it receives only containers of one entry. Units: bytes; integers little-endian. Read back by
// read_fatbin(). Source: no public specification; observed with nvcc 13.0, pinned by tests/unit.
//
// offset     type  field
// 0x00       u32   magic 0xBA55ED50
// 0x04       u16   container version 1
// 0x06       u16   container header size 16
// 0x08       u64   size of all entries: their header sizes and padded payload sizes
// then, for each entry:
//      0x00  u16   kind: 1 PTX, 2 ELF, 8 LTO-IR
//      0x02  u16   entry version 0x0101
//      0x04  u32   entry header size
//      0x08  u64   padded payload size, a multiple of 8
//      0x10  u32   compressed payload size; 0: stored raw
//      0x14  u32   offset of the options field; nvJitLink crashes on PTX and LTO-IR where this is 0
//      0x18  u16   minor version, 0x1A major version; of Tile IR both in the second, a byte each
//      0x1C  u32   architecture without suffix
//      0x20  u32   0x40, offset of the ident text; 0x24 its length; both 0: no ident
//      0x28  u64   flags, of PTX without those of a compression that was undone
//      0x30  u64   scramble key of LTO-IR
//      0x38  u64   uncompressed payload size; 0: stored raw
//      0x40        ident text, zero-padded to a multiple of 8, at least one zero; absent without
//      one
//            u32   options field: offset of the options text, then its length
//                  options text, zero-padded as the ident
//                  payload, zero-padded to a multiple of 8
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fatlink/bytes.hpp"
#include "fatlink/fatbin.hpp"

/// Constants of the container, for its reader and its writer.
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

namespace fatlink::detail {

/// The container of `entry` and nothing else, without ident: PTX and SASS decompressed, LTO-IR as
/// stored. `name` is the file's, for messages.
/// @throws format_error a payload that does not decompress.
byte_buffer write_fatbin(fatbin_entry const& entry, std::string_view name = "fatbin");

/// One container of all `entries`, each with its ident_text and its payload as stored. The order
/// does not depend on that of `entries`, unless two have one kind and target: oldest target first
/// (sm_90, sm_90a, sm_100), and of one target ELF, PTX, LTO-IR as nvcc writes them. Driver and
/// nvJitLink choose by target, not by position.
byte_buffer write_fatbin(std::span<fatbin_entry const> entries);

}  // namespace fatlink::detail
