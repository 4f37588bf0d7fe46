// SPDX-License-Identifier: Apache-2.0
// The flags of a fatbin entry that holds a bare module. Threads: no shared state.
#pragma once

#include <cstdint>

#include "fatbin/layout.hpp"
#include "fatlink/target.hpp"

namespace fatlink::detail {

/// As nvcc -Xfatbin --compress-mode=none writes them: 64-bit, Linux, and the architecture's suffix.
/// (It also sets 0x1000000 in elf entries from sm_100 on; nvJitLink 13.0 links the same without.)
inline std::uint64_t flags_of(target architecture) noexcept
{
  constexpr std::uint64_t k_64_bit_linux = 0x11;
  auto const suffix = architecture.suffix();
  return k_64_bit_linux | (suffix == 'a'   ? layout::k_flag_arch_specific
                           : suffix == 'f' ? layout::k_flag_family_specific
                                           : 0);
}

}  // namespace fatlink::detail
