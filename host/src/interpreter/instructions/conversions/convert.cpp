// SPDX-License-Identifier: Apache-2.0
// cvt, between all types of 8 to 64 bits. Source: PTX ISA 9.0, "cvt".
#include <algorithm>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/conversions/conversion.hpp"
#include "interpreter/instructions/conversions/convert_special.hpp"
#include "interpreter/instructions/floats/float_modifiers.hpp"
#include "interpreter/instructions/floats/float_ops.hpp"
#include "interpreter/instructions/floats/half_vectors.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

using half_float::bfloat16;
using half_float::binary16;

template <unsigned ResultStride, unsigned SourceStride, typename D, typename S>
[[gnu::always_inline]] inline void convert_integers(std::byte* d, std::byte const* a, bool saturate,
                                                    lane_mask mask)
{
  if (saturate)
    each_lane(mask, [=](unsigned i) {
      write<ResultStride>(d, i, clamped<D>(read<S>(a, i, SourceStride)));
    });
  else
    each_lane(mask, [=](unsigned i) {
      write<ResultStride>(d, i, static_cast<D>(read<S>(a, i, SourceStride)));
    });
}

template <unsigned ResultStride, typename D, typename S>
[[gnu::always_inline]] inline void convert_integers_to(warp& w, operation const& o, lane_mask mask)
{
  auto const conversion = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  if constexpr (sizeof(S) <= 2)
    if (conversion.source_stride == 2)
      return convert_integers<ResultStride, 2, D, S>(d, a, conversion.saturate, mask);
  if constexpr (sizeof(S) <= 4)
    if (conversion.source_stride == 4)
      return convert_integers<ResultStride, 4, D, S>(d, a, conversion.saturate, mask);
  convert_integers<ResultStride, 8, D, S>(d, a, conversion.saturate, mask);
}

template <typename D, typename S>
void integer_to_integer(warp& w, operation const& o, lane_mask mask)
{
  auto const stride = conversion_of(o).result_stride;
  if constexpr (sizeof(D) <= 2)
    if (stride == 2) return convert_integers_to<2, D, S>(w, o, mask);
  if constexpr (sizeof(D) <= 4)
    if (stride == 4) return convert_integers_to<4, D, S>(w, o, mask);
  convert_integers_to<8, D, S>(w, o, mask);
}

template <typename D, typename S>
void integer_to_real(warp& w, operation const& o, lane_mask mask)
{
  auto const conversion = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  rounding_scope const scope(k_is_half<D> ? FE_TONEAREST : conversion.rounding);
  each_lane(mask, [=](unsigned i) {
    auto const value = read<S>(a, i, conversion.source_stride);
    if constexpr (k_is_half<D>) {
      write_real<D>(d, i, to_odd_double(value), conversion);
    } else {
      auto const real = static_cast<D>(value);
      store(d, i, conversion.saturate ? saturated(real) : real);
    }
  });
}

template <unsigned Stride, typename D, typename S>
[[gnu::always_inline]] inline void convert_reals_to(warp& w, operation const& o, lane_mask mask)
{
  auto const conversion = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    write<Stride>(d, i, to_integer<D, S>(read_real<S>(a, i, conversion), conversion.rounding));
  });
}

template <typename D, typename S>
void real_to_integer(warp& w, operation const& o, lane_mask mask)
{
  auto const stride = conversion_of(o).result_stride;
  if constexpr (sizeof(D) <= 2)
    if (stride == 2) return convert_reals_to<2, D, S>(w, o, mask);
  if constexpr (sizeof(D) <= 4)
    if (stride == 4) return convert_reals_to<4, D, S>(w, o, mask);
  convert_reals_to<8, D, S>(w, o, mask);
}

/// bf16 is the upper half of f32.
void widen_bfloat(warp& w, operation const& o, lane_mask mask)
{
  auto const conversion = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    auto const bits = std::uint32_t{read<std::uint16_t>(a, i, conversion.source_stride)} << 16;
    auto const value =
        conversion.ftz ? flushed(std::bit_cast<float>(bits)) : std::bit_cast<float>(bits);
    store(d, i, std::bit_cast<std::uint32_t>(conversion.saturate ? saturated(value) : value));
  });
}

/// Whether a cvt to or from half numbers only rounds to nearest, for all lanes: then processors of
/// x86-64-v3 have instructions for it.
bool is_plain(conversion const& conversion, lane_mask mask) noexcept
{
  return has_level_3 && mask == k_all_lanes && conversion.rounding == FE_TONEAREST &&
         !conversion.integral && !conversion.saturate && !conversion.relu && !conversion.ftz;
}

template <typename D, typename S>
void real_to_real(warp& w, operation const& o, lane_mask mask)
{
  auto const conversion = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
#ifdef FATLINK_HAS_LEVEL_3
  constexpr auto k_widens = std::is_same_v<S, binary16> && std::is_same_v<D, float>;
  if constexpr (k_widens)
    if (is_plain(conversion, mask) && conversion.source_stride == sizeof(std::uint16_t))
      return half_vectors::widen_lanes(d, a);
  if constexpr (k_is_half<D> && std::is_same_v<S, float>)
    if (is_plain(conversion, mask) && conversion.source_stride == sizeof(float))
      return half_vectors::narrow_lanes<D>(d, a);
#endif
  rounding_scope const scope(k_is_half<D> || conversion.integral ? FE_TONEAREST
                                                                 : conversion.rounding);
  each_lane(mask, [=](unsigned i) {
    auto const value = with_nan<D, S>(read_real<S>(a, i, conversion));
    if constexpr (k_is_half<D> && std::is_same_v<S, double>)
      if (std::isnan(value) && !conversion.saturate) return store(d, i, narrowed_nan<D>(value));
    write_real<D>(d, i, conversion.integral ? integral(value, conversion.rounding) : value,
                  conversion);
  });
}

/// cvt.f16x2.f32 d, a, b: a becomes the upper half.
template <typename Half>
void pair_of_halves(warp& w, operation const& o, lane_mask mask)
{
  auto const conversion = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
#ifdef FATLINK_HAS_LEVEL_3
  if (is_plain(conversion, mask)) return half_vectors::narrow_pairs<Half>(d, a, b);
#endif
  each_lane(mask, [=](unsigned i) {
    auto const upper = static_cast<double>(load<float>(a, i));
    auto const lower = static_cast<double>(load<float>(b, i));
    write_real<Half>(d, 2 * i, lower, conversion);
    write_real<Half>(d, 2 * i + 1, upper, conversion);
  });
}

template <typename Make>
handler for_any_integer(decoding const& d, type type, Make const& make)
{
  if (type == type::u8 || type == type::b8) return make.template operator()<std::uint8_t>();
  if (type == type::s8) return make.template operator()<std::int8_t>();
  return for_integer(d, type, make);
}

template <typename Make>
handler for_real(decoding const& d, type type, Make const& make)
{
  switch (type) {
    case type::f16:
      return make.template operator()<binary16>();
    case type::bf16:
      return make.template operator()<bfloat16>();
    case type::f32:
      return make.template operator()<float>();
    case type::f64:
      return make.template operator()<double>();
    default:
      d.refuse();
  }
}

handler pick_conversion(decoding const& d, type target, type source)
{
  if (target == type::f32 && source == type::bf16) return for_host<&widen_bfloat>();
  if (is_float(target) && is_float(source))
    return for_real(d, target, [&]<typename D>() -> handler {
      return for_real(d, source,
                      []<typename S>() -> handler { return for_host<&real_to_real<D, S>>(); });
    });
  if (is_float(target))
    return for_real(d, target, [&]<typename D>() -> handler {
      return for_any_integer(
          d, source, []<typename S>() -> handler { return for_host<&integer_to_real<D, S>>(); });
    });
  if (is_float(source))
    return for_any_integer(d, target, [&]<typename D>() -> handler {
      return for_real(d, source,
                      []<typename S>() -> handler { return for_host<&real_to_integer<D, S>>(); });
    });
  return for_any_integer(d, target, [&]<typename D>() -> handler {
    return for_any_integer(
        d, source, []<typename S>() -> handler { return for_host<&integer_to_integer<D, S>>(); });
  });
}

/// `may_be_integral`: whether .rni, .rzi, … are possible, too.
void take_cvt_rounding(decoding& d, conversion& conversion, bool may_be_integral)
{
  struct mode {
    std::string_view word;
    int rounding;
  };
  static constexpr mode k_modes[] = {
      {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  for (auto const& [word, rounding] : k_modes) {
    if (d.take(word)) conversion.rounding = static_cast<std::uint16_t>(rounding);
    if (may_be_integral && d.take(std::string(word) + "i")) {
      conversion.rounding = static_cast<std::uint16_t>(rounding);
      conversion.integral = true;
    }
  }
}

/// Takes the modifiers that a conversion between these types has.
conversion take_modifiers(decoding& d, type target, type source)
{
  conversion conversion;
  auto const is_pair = target == type::f16x2 || target == type::bf16x2;
  if (is_float(source) || is_float(target)) take_cvt_rounding(d, conversion, is_float(source));
  if (!is_pair && (source == type::f32 || target == type::f32)) conversion.ftz = d.take("ftz");
  if (!is_pair) conversion.saturate = d.take("sat");
  if (source == type::f32 && is_half(target)) conversion.relu = d.take("relu");
  return conversion;
}

void emit_conversion(decoding& d, handler run, conversion const& conversion, operand_offset result,
                     operand_offset a, operand_offset b)
{
  auto& o = d.emit(run);
  o.d = result;
  o.a = a;
  o.b = b;
  o.immediate = std::bit_cast<std::uint64_t>(conversion);
}

/// The type of the register `operand`, which may be wider than `type`, the instruction's type.
type choose_register_type(decoding const& d, syntax::operand const& operand, type type)
{
  auto const width = d.width_of(operand);
  if (width <= size_of(type)) return type;
  return width == 8 ? type::b64 : width == 4 ? type::b32 : type::b16;
}

/// cvt.f16x2.f32 d, a, b.
void decode_pair(decoding& d, type target, type source, conversion const& conversion)
{
  if (source != type::f32) d.refuse();
  d.expect_count(3, 3);
  auto const a = d.source(1, source);
  auto const b = d.source(2, source);
  auto const run = target == type::f16x2 ? for_host<&pair_of_halves<binary16>>()
                                         : for_host<&pair_of_halves<bfloat16>>();
  emit_conversion(d, run, conversion, d.destination(0, target), a, b);
}

void decode_cvt(decoding& d)
{
  if (decode_special_conversion(d)) return;
  auto const source = d.take_type();
  auto const target = d.take_type();
  auto conversion = take_modifiers(d, target, source);
  if (target == type::f16x2 || target == type::bf16x2)
    return decode_pair(d, target, source, conversion);
  d.expect_count(2, 2);
  auto const source_type = choose_register_type(d, d.operand(1), source);
  auto const result_type =
      is_float(target) ? target : choose_register_type(d, d.operand(0), target);
  conversion.source_stride = static_cast<std::uint8_t>(std::max(size_of(source_type), 2U));
  conversion.result_stride = static_cast<std::uint8_t>(std::max(size_of(result_type), 2U));
  auto const a = d.source(1, source_type);
  auto const result = d.destination(0, result_type);
  emit_conversion(d, pick_conversion(d, target, source), conversion, result, a, k_no_operand);
}

}  // namespace

void add_convert(decode_table& table)
{
  table["cvt"] = &decode_cvt;
}

}  // namespace fatlink::interpreter
