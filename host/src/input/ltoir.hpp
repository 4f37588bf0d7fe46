// SPDX-License-Identifier: Apache-2.0
// Reads the header of raw LTO-IR: what nvcc -dlto -ltoir, NVRTC -dlto and libNVVM -gen-lto write,
// and what Numba and cuda.core pass on. The payload is scrambled: neither symbols, types nor float
// flags can be read from it, and the header states neither its size nor a digest of it. Units:
// bytes; integers little-endian. Byte table: docs/input_forms.md.
//
// offset  type  field
// 0x00    u32   magic 0x7F4E43ED
// 0x04    u8    container major version 1, 0x05 minor version
// 0x06    u8    NVVM IR major version 2, 0x07 minor version
// 0x08    u8    debug metadata major version 3, 0x09 minor version
// 0x0A    u8    LLVM major version, 0x0B minor version: a hint, nvJitLink ignores it
// 0x0C    u16   0x18, size of this part
// 0x0E    u16   1: the code is for link-time optimisation
// 0x10    u32   end of the fields
// 0x14    u32   end of the key; the payload follows
// 0x18          fields: u16 tag, u16 value, up to 0, 0. Tag 1: architecture times 10; 0x20: 1 if it
//               is architecture-specific (sm_90a); family-specific code (sm_100f) has no mark
//               key with which the payload is scrambled, 4 bytes
//               payload, a multiple of 4 bytes
//
// Source: no public specification; observed with CUDA 12.9, 13.0 and 13.5, pinned by tests/unit.
// Threads: no shared state.
#pragma once

#include <compare>
#include <string_view>

#include "fatlink/bytes.hpp"
#include "fatlink/target.hpp"

namespace fatlink::detail {

struct ltoir_version {
  unsigned major = 0;
  unsigned minor = 0;
  /// Compares major, then minor.
  // NOLINTNEXTLINE(modernize-use-nullptr): see toolkit_version
  friend auto operator<=>(ltoir_version const&, ltoir_version const&) = default;
};

struct ltoir_header {
  ltoir_version container = {};  ///< 1.65
  ltoir_version ir = {};         ///< 2.98: tells toolkits apart that write one container version
  ltoir_version debug_metadata = {};  ///< 3.2
  fatlink::target target = {};        ///< suffix `a` or none; `f` cannot be told
};

/// Whether `bytes` begin with the magic of raw LTO-IR.
bool is_ltoir(bytes_view bytes) noexcept;

/// The header of raw LTO-IR. `name` is the file's, for messages.
/// @throws format_error (stage input) corrupt-ltoir: a damaged header, an unknown container
/// version,
///   or no payload, with the byte offset.
ltoir_header read_ltoir_header(bytes_view ltoir, std::string_view name);

}  // namespace fatlink::detail
