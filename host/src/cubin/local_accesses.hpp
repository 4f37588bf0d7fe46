// SPDX-License-Identifier: Apache-2.0
// Counts the accesses of local memory in machine code.
//
// An instruction of sm_75 to sm_121 is 16 bytes: bits 0 to 11 are the operation (STL 0x387, LDL
// 0x983), bits 73 to 75 its width (0, 1: 8 bits; 2, 3: 16; 4: 32; 5: 64; 6: 128).
// Source: no public specification; compared with the spills that `ptxas -v` prints, for 225 kernels
// of sm_75, 80, 86, 89, 90, 100, 103, 120 and 121 with 24 to 255 registers, by ptxas 13.0.
// Threads: no shared state.
#pragma once

#include <cstdint>
#include <optional>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// Bytes that one thread would write and read if it executed each instruction once.
struct local_accesses {
  std::uint64_t stores = 0;
  std::uint64_t loads = 0;
};

/// Nothing if the instructions of sm_`architecture` are not known, or if an access has an unknown
/// width. Ignores a part of an instruction at the end.
std::optional<local_accesses> count_local_accesses(bytes_view code, unsigned architecture);

}  // namespace fatlink::detail
