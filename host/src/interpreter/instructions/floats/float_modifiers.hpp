// SPDX-License-Identifier: Apache-2.0
// Modifiers that floating-point instructions have in common, as operation::flags hold them.
#pragma once

#include <cfenv>
#include <cstdint>

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

constexpr std::uint32_t k_rounding = 0xFFFF;  ///< FE_… of <cfenv>
constexpr std::uint32_t k_saturate = 0x10000;

/// Takes .rn, .rz, .rm or .rp. Returns FE_…, to nearest unless stated.
inline int take_rounding(decoding& d)
{
  if (d.take("rz")) return FE_TOWARDZERO;
  if (d.take("rm")) return FE_DOWNWARD;
  if (d.take("rp")) return FE_UPWARD;
  (void)d.take("rn");
  return FE_TONEAREST;
}

/// f16 or bf16, one or two.
inline bool is_half(type type) noexcept
{
  return type == type::f16 || type == type::f16x2 || type == type::bf16 || type == type::bf16x2;
}

/// f16, one or two: of the halves, only these have .ftz and .sat.
inline bool is_binary16(type type) noexcept
{
  return type == type::f16 || type == type::f16x2;
}

}  // namespace fatlink::interpreter
