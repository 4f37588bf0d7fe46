// SPDX-License-Identifier: Apache-2.0
// Writes a fatbin that holds exactly one entry. nvJitLink chooses among the entries of a fatbin by
// its own rules (SASS before PTX), so it receives only what this writes.
// Units: bytes; integers little-endian. Read back by read_fatbin().
// Source: no public specification; observed with nvcc 13.0, pinned by tests/unit.
//
// offset     type  field
// 0x00       u32   magic 0xBA55ED50
// 0x04       u16   container version 1
// 0x06       u16   container header size 16
// 0x08       u64   entry header size + padded payload size
// 0x10+0x00  u16   kind: 1 PTX, 2 ELF, 8 LTO-IR
//      0x02  u16   entry version 0x0101
//      0x04  u32   entry header size: 0x48 + padded options text
//      0x08  u64   padded payload size, a multiple of 8
//      0x10  u32   compressed payload size; 0: stored raw
//      0x14  u32   0x40, offset of the options field; nvJitLink crashes where this is 0
//      0x18  u16   minor version, 0x1A major version
//      0x1C  u32   architecture without suffix
//      0x20  u64   0: no ident
//      0x28  u64   flags, of PTX without those of a compression
//      0x30  u64   scramble key of LTO-IR
//      0x38  u64   uncompressed payload size; 0: stored raw
//      0x40  u32   0x48, offset of the options text; 0x44 its length
//      0x48        options text, zero-padded to a multiple of 8
//                  payload, zero-padded to a multiple of 8
#pragma once

#include <string_view>

#include "fatlink/bytes.hpp"
#include "fatlink/fatbin.hpp"

namespace fatlink::detail {

/// The container of `entry` and nothing else: PTX decompressed, every other payload as stored.
/// `name` is the file's, for messages.
/// @throws format_error a PTX payload that does not decompress.
byte_buffer write_fatbin(fatbin_entry const& entry, std::string_view name = "fatbin");

}  // namespace fatlink::detail
