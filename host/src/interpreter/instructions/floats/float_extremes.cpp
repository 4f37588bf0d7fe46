// SPDX-License-Identifier: Apache-2.0
// min and max of floating-point numbers with .xorsign.abs or of three inputs. Source: PTX ISA 9.0,
// "Floating-Point Instructions" and "Half Precision Floating-Point Instructions".
#include "interpreter/instructions/floats/float_extremes.hpp"

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/floats/float_modifiers.hpp"
#include "interpreter/instructions/floats/float_ops.hpp"

namespace fatlink::interpreter {
namespace {

enum extreme_flags : std::uint32_t {
  k_flush = 1,
  k_prefer_nan = 2,
  k_absolute = 4,
  k_xor_signs = 8
};

/// A format by its bits: f32, or a half.
template <typename T, T Exponent, T Nan>
struct ordered_bits {
  using bits = T;
  static constexpr T k_sign = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
  static constexpr T k_exponent = Exponent;
  static constexpr T k_nan_bits = Nan;

  static bool is_nan(T value) noexcept { return (value & ~k_sign) > k_exponent; }
  static T flushed(T value) noexcept
  {
    return static_cast<T>((value & k_exponent) == 0 ? value & k_sign : value);
  }
  /// −0 is less than +0.
  static bool less(T a, T b) noexcept { return key(a) < key(b); }

 private:
  static T key(T value) noexcept
  {
    return static_cast<T>((value & k_sign) != 0 ? ~value : value | k_sign);
  }
};
using single_bits = ordered_bits<std::uint32_t, 0x7F800000, k_nan>;
using half_bits = ordered_bits<std::uint16_t, 0x7C00, 0x7FFF>;
using bfloat_bits = ordered_bits<std::uint16_t, 0x7F80, 0x7FFF>;

template <typename Format, bool Max>
typename Format::bits extreme(typename Format::bits a, typename Format::bits b,
                              std::uint32_t flags) noexcept
{
  auto const nan_a = Format::is_nan(a);
  auto const nan_b = Format::is_nan(b);
  if ((nan_a && nan_b) || ((flags & k_prefer_nan) != 0 && (nan_a || nan_b)))
    return Format::k_nan_bits;
  if (nan_a) return b;
  if (nan_b) return a;
  return Format::less(a, b) == Max ? b : a;
}

template <typename Format>
typename Format::bits prepared(typename Format::bits value, std::uint32_t flags) noexcept
{
  using bits = typename Format::bits;
  if ((flags & k_flush) != 0) value = Format::flushed(value);
  return (flags & k_absolute) != 0 ? static_cast<bits>(value & ~Format::k_sign) : value;
}

/// `Count` numbers of each lane, of `Sources` operands.
template <typename Format, bool Max, unsigned Count, unsigned Sources>
void extremes(warp& w, operation const& o, lane_mask mask)
{
  using bits = typename Format::bits;
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = Sources > 2 ? w.at(o.c) : nullptr;
  auto const flags = o.flags;
  each_lane(mask, [=](unsigned lane) {
    for (unsigned i = lane * Count; i < (lane + 1) * Count; ++i) {
      auto const x = load<bits>(a, i);
      auto const y = load<bits>(b, i);
      auto result =
          extreme<Format, Max>(prepared<Format>(x, flags), prepared<Format>(y, flags), flags);
      if constexpr (Sources > 2)
        result = extreme<Format, Max>(result, prepared<Format>(load<bits>(c, i), flags), flags);
      if ((flags & k_xor_signs) != 0 && !Format::is_nan(result))
        result = static_cast<bits>((result & ~Format::k_sign) | ((x ^ y) & Format::k_sign));
      store(d, i, result);
    }
  });
}

template <bool Max>
handler pick_extremes(decoding const& d, type type)
{
  switch (type) {
    case type::f16:
      return &extremes<half_bits, Max, 1, 2>;
    case type::f16x2:
      return &extremes<half_bits, Max, 2, 2>;
    case type::bf16:
      return &extremes<bfloat_bits, Max, 1, 2>;
    case type::bf16x2:
      return &extremes<bfloat_bits, Max, 2, 2>;
    case type::f32:
      return &extremes<single_bits, Max, 1, 2>;
    default:
      d.refuse();
  }
}

std::uint32_t take_extreme_flags(decoding& d, type type)
{
  auto const may_flush = type == type::f32 || is_binary16(type);
  auto const ftz = may_flush && d.take("ftz") ? k_flush : 0U;
  auto const nan = d.take("NaN") ? k_prefer_nan : 0U;
  auto const absolute = d.take("abs") ? k_absolute : 0U;
  return ftz | nan | absolute;
}

}  // namespace

bool decode_special_extreme(decoding& d, bool max, type type)
{
  if (d.take("xorsign")) {
    auto const flags = take_extreme_flags(d, type) | k_xor_signs;
    if ((flags & k_absolute) == 0) d.refuse(".xorsign needs .abs");
    d.emit(max ? pick_extremes<true>(d, type) : pick_extremes<false>(d, type), type, {type, type})
        .flags = flags;
    return true;
  }
  if (d.count() != 4) return false;
  if (type != type::f32) d.refuse("too many operands");
  auto const flags = take_extreme_flags(d, type);
  auto const run = max ? &extremes<single_bits, true, 1, 3> : &extremes<single_bits, false, 1, 3>;
  d.emit(run, type, {type, type, type}).flags = flags;
  return true;
}

}  // namespace fatlink::interpreter
