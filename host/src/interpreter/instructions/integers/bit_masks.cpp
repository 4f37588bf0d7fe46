// SPDX-License-Identifier: Apache-2.0
// bmsk, szext and fns. Source: PTX ISA 9.0, "Integer Arithmetic Instructions".
#include <cstdlib>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

/// Ones from bit `start` on; all positions beyond 31 are none.
std::uint32_t ones_from(std::uint32_t start) noexcept
{
  return start < 32 ? 0xFFFFFFFFU << start : 0U;
}

/// `width` ones from bit `start` on. `.wrap` reads both modulo 32.
template <bool Clamp>
struct op_mask {
  std::uint32_t operator()(std::uint32_t start, std::uint32_t width) const
  {
    if (Clamp && start >= 32) return 0;
    auto const begin = start & 31U;
    if (Clamp && width >= 32) return ones_from(begin);
    return ones_from(begin) & ~ones_from(begin + (width & 31U));
  }
};

/// Extends the lower `width` bits with zeros or, if T is signed, with the sign.
template <bool Clamp>
struct op_extend {
  template <typename T>
  T operator()(T value, T width) const
  {
    auto const bits = static_cast<std::uint32_t>(value);
    auto const count = static_cast<std::uint32_t>(width);
    if (Clamp && count >= 32) return value;
    auto const kept = count & 31U;
    auto const upper = ones_from(kept);
    auto const sign = std::is_signed_v<T> && kept != 0 && (bits >> (kept - 1) & 1U) != 0;
    return static_cast<T>(sign ? bits | upper : bits & ~upper);
  }
};

/// The position of the n-th one of `bits` from `base` on, upwards (n > 0) or downwards (n < 0); n =
/// 0: base itself if its bit is one. All ones if there is none.
std::uint32_t nth_set(std::uint32_t bits, std::uint32_t base, std::int32_t n) noexcept
{
  constexpr std::uint32_t k_none = 0xFFFFFFFF;
  if (base > 31) return k_none;
  if (n == 0) return (bits >> base & 1U) != 0 ? base : k_none;
  auto remaining = std::abs(std::int64_t{n});
  auto const step = n > 0 ? 1 : -1;
  for (auto position = static_cast<int>(base); position >= 0 && position < 32; position += step)
    if ((bits >> position & 1U) != 0 && --remaining == 0)
      return static_cast<std::uint32_t>(position);
  return k_none;
}

struct op_nth_set {
  std::uint32_t operator()(std::uint32_t bits, std::uint32_t base, std::uint32_t n) const
  {
    return nth_set(bits, base, static_cast<std::int32_t>(n));
  }
};

/// Whether the mode is .clamp; the other one is .wrap.
bool take_clamp(decoding& d)
{
  auto const clamp = d.take("clamp");
  if (!clamp && !d.take("wrap")) d.refuse("neither .clamp nor .wrap");
  return clamp;
}

void decode_mask(decoding& d)
{
  if (d.take_type() != type::b32) d.refuse("not a supported type");
  using u32 = std::uint32_t;
  auto const run =
      take_clamp(d) ? &binary<u32, u32, op_mask<true>> : &binary<u32, u32, op_mask<false>>;
  d.emit(run, type::b32, {type::b32, type::b32});
}

template <typename T>
handler extension(bool clamp)
{
  return clamp ? &binary<T, T, op_extend<true>> : &binary<T, T, op_extend<false>>;
}

void decode_extend(decoding& d)
{
  auto const type = d.take_type();
  if (type != type::u32 && type != type::s32) d.refuse("not a supported type");
  auto const clamp = take_clamp(d);
  d.emit(is_signed(type) ? extension<std::int32_t>(clamp) : extension<std::uint32_t>(clamp), type,
         {type, type::u32});
}

void decode_nth_set(decoding& d)
{
  if (d.take_type() != type::b32) d.refuse("not a supported type");
  d.emit(&ternary<std::uint32_t, std::uint32_t, op_nth_set>, type::b32,
         {type::b32, type::b32, type::b32});
}

}  // namespace

void add_bit_masks(decode_table& table)
{
  table["bmsk"] = &decode_mask;
  table["szext"] = &decode_extend;
  table["fns"] = &decode_nth_set;
}

}  // namespace fatlink::interpreter
