// SPDX-License-Identifier: Apache-2.0
// cvt, between all types of 8 to 64 bits. Source: PTX ISA 9.0, "cvt"; NaN to integer: measured
// on an H200.
#include <algorithm>
#include <limits>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/float_ops.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

using half_float::bfloat16;
using half_float::binary16;
using half_float::round_to;

/// In operation::immediate.
struct conversion {
  std::uint8_t from_stride = 0;  ///< bytes a lane of the source register, at least the type's
  std::uint8_t to_stride = 0;
  bool saturate = false;
  bool ftz = false;
  bool relu = false;
  bool integral = false;  ///< .rni and its like: round to a whole number
  std::uint16_t rounding = FE_TONEAREST;
};
static_assert(sizeof(conversion) == sizeof(operation::immediate));

conversion conversion_of(operation const& o) noexcept
{
  return std::bit_cast<conversion>(o.immediate);
}

template <typename T>
constexpr bool k_is_half = std::is_same_v<T, binary16> || std::is_same_v<T, bfloat16>;

/// The low bytes of a register's lane.
template <typename T>
T read(std::byte const* lanes, unsigned lane, unsigned stride) noexcept
{
  T value;
  std::memcpy(&value, lanes + lane * stride, sizeof(T));
  return value;
}

/// Extends an integer to its register.
template <typename T>
void write(std::byte* lanes, unsigned lane, unsigned stride, T value) noexcept
{
  using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  auto const bits = static_cast<std::uint64_t>(static_cast<wide>(value));
  std::memcpy(lanes + lane * stride, &bits, stride);
}

template <typename D, typename S>
D clamped(S value) noexcept
{
  if (std::cmp_less(value, std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
  if (std::cmp_greater(value, std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
  return static_cast<D>(value);
}

template <typename D, typename S>
void integer_to_integer(warp& w, operation const& o, lane_mask mask)
{
  auto const how = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    auto const value = read<S>(a, i, how.from_stride);
    write(d, i, how.to_stride, how.saturate ? clamped<D>(value) : static_cast<D>(value));
  });
}

/// A whole number as a double that rounds, once more, as the number itself would.
template <typename S>
double to_odd_double(S value) noexcept
{
  if constexpr (sizeof(S) < 8) {
    return static_cast<double>(value);
  } else {
    bool const negative = std::is_signed_v<S> && value < S{0};
    auto magnitude =
        negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    if (magnitude >> 53 != 0)
      magnitude = (magnitude | ((magnitude & 0x7FF) != 0 ? 0x800U : 0U)) & ~0x7FFULL;
    return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  }
}

template <typename D, typename S>
void integer_to_real(warp& w, operation const& o, lane_mask mask)
{
  auto const how = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  rounding_scope const scope(k_is_half<D> ? FE_TONEAREST : how.rounding);
  each_lane(mask, [=](unsigned i) {
    auto const value = read<S>(a, i, how.from_stride);
    if constexpr (k_is_half<D>) {
      store(d, i, round_to<D>(to_odd_double(value), how.rounding).bits);
    } else {
      auto const real = static_cast<D>(value);
      store(d, i, how.saturate ? saturated(real) : real);
    }
  });
}

double integral(double value, int rounding) noexcept
{
  switch (rounding) {
    case FE_TOWARDZERO:
      return std::trunc(value);
    case FE_DOWNWARD:
      return std::floor(value);
    case FE_UPWARD:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

template <typename S>
double read_real(std::byte const* lanes, unsigned lane, conversion const& how) noexcept
{
  if constexpr (k_is_half<S>) {
    return to_double(S{read<std::uint16_t>(lanes, lane, how.from_stride)});
  } else if constexpr (sizeof(S) == 4) {
    auto const value = read<float>(lanes, lane, how.from_stride);
    return static_cast<double>(how.ftz ? flushed(value) : value);
  } else {
    return read<double>(lanes, lane, how.from_stride);
  }
}

/// Values beyond the range give its end. NaN gives 0, or of 64 bits on either side 2^63.
template <typename D, typename S>
D to_integer(double value, int rounding) noexcept
{
  using limits = std::numeric_limits<D>;
  if (std::isnan(value)) {
    if constexpr (sizeof(D) == 8 || sizeof(S) == 8)
      return static_cast<D>(std::uint64_t{1} << (8 * sizeof(D) - 1));
    return D{0};
  }
  auto const whole = integral(value, rounding);
  constexpr auto k_least = static_cast<double>(limits::min());
  constexpr auto k_beyond = sizeof(D) == 8 ? (std::is_signed_v<D> ? 0x1p63 : 0x1p64)
                                           : static_cast<double>(limits::max()) + 1;
  if (whole <= k_least) return limits::min();
  if (whole >= k_beyond) return limits::max();
  return static_cast<D>(whole);
}

template <typename D, typename S>
void real_to_integer(warp& w, operation const& o, lane_mask mask)
{
  auto const how = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    write(d, i, how.to_stride, to_integer<D, S>(read_real<S>(a, i, how), how.rounding));
  });
}

/// `value` is exact.
template <typename D>
void write_real(std::byte* lanes, unsigned lane, double value, conversion const& how) noexcept
{
  if (how.relu && !(value > 0) && !std::isnan(value)) value = 0;
  if constexpr (k_is_half<D>) {
    auto const result = round_to<D>(value, how.rounding);
    store(lanes, lane, how.saturate ? round_to<D>(saturated(to_double(result))).bits : result.bits);
  } else {
    auto result = static_cast<D>(value);
    if constexpr (sizeof(D) == 4) result = how.ftz ? flushed(result) : result;
    store(lanes, lane, how.saturate ? saturated(result) : result);
  }
}

/// To f32, the NaNs of f32 and f16 become the one NaN; f64's goes through with its payload.
template <typename D, typename S>
double with_nan(double value) noexcept
{
  constexpr auto k_becomes_one =
      std::is_same_v<D, float> && (std::is_same_v<S, float> || std::is_same_v<S, binary16>);
  return k_becomes_one && std::isnan(value) ? static_cast<double>(std::bit_cast<float>(k_nan))
                                            : value;
}

/// bf16 is the upper half of f32.
void widen_bfloat(warp& w, operation const& o, lane_mask mask)
{
  auto const how = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    auto const bits = std::uint32_t{read<std::uint16_t>(a, i, how.from_stride)} << 16;
    auto const value = std::bit_cast<float>(bits);
    store(d, i, how.saturate ? std::bit_cast<std::uint32_t>(saturated(value)) : bits);
  });
}

template <typename D, typename S>
void real_to_real(warp& w, operation const& o, lane_mask mask)
{
  auto const how = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  rounding_scope const scope(k_is_half<D> || how.integral ? FE_TONEAREST : how.rounding);
  each_lane(mask, [=](unsigned i) {
    auto const value = with_nan<D, S>(read_real<S>(a, i, how));
    write_real<D>(d, i, how.integral ? integral(value, how.rounding) : value, how);
  });
}

/// cvt.f16x2.f32 d, a, b: a becomes the upper half.
template <typename Half>
void pair_of_halves(warp& w, operation const& o, lane_mask mask)
{
  auto const how = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  each_lane(mask, [=](unsigned i) {
    auto const upper = static_cast<double>(load<float>(a, i));
    auto const lower = static_cast<double>(load<float>(b, i));
    write_real<Half>(d, 2 * i, lower, how);
    write_real<Half>(d, 2 * i + 1, upper, how);
  });
}

template <typename Make>
handler for_any_integer(decoding const& d, type as, Make const& make)
{
  if (as == type::u8 || as == type::b8) return make.template operator()<std::uint8_t>();
  if (as == type::s8) return make.template operator()<std::int8_t>();
  return for_integer(d, as, make);
}

template <typename Make>
handler for_real(decoding const& d, type as, Make const& make)
{
  switch (as) {
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

handler pick(decoding const& d, type to, type from)
{
  if (to == type::f32 && from == type::bf16) return &widen_bfloat;
  if (is_float(to) && is_float(from))
    return for_real(d, to, [&]<typename D>() -> handler {
      return for_real(d, from, []<typename S>() -> handler { return &real_to_real<D, S>; });
    });
  if (is_float(to))
    return for_real(d, to, [&]<typename D>() -> handler {
      return for_any_integer(d, from,
                             []<typename S>() -> handler { return &integer_to_real<D, S>; });
    });
  if (is_float(from))
    return for_any_integer(d, to, [&]<typename D>() -> handler {
      return for_real(d, from, []<typename S>() -> handler { return &real_to_integer<D, S>; });
    });
  return for_any_integer(d, to, [&]<typename D>() -> handler {
    return for_any_integer(d, from,
                           []<typename S>() -> handler { return &integer_to_integer<D, S>; });
  });
}

void take_rounding(decoding& d, conversion& how)
{
  struct mode {
    std::string_view word;
    int rounding;
  };
  static constexpr mode k_modes[] = {
      {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  for (auto const& [word, rounding] : k_modes) {
    if (d.take(word)) how.rounding = static_cast<std::uint16_t>(rounding);
    if (d.take(std::string(word) + "i")) {
      how.rounding = static_cast<std::uint16_t>(rounding);
      how.integral = true;
    }
  }
}

void emit(decoding& d, handler run, conversion const& how, operand_offset to, operand_offset a,
          operand_offset b)
{
  auto& o = d.emit(run);
  o.d = to;
  o.a = a;
  o.b = b;
  o.immediate = std::bit_cast<std::uint64_t>(how);
}

/// The type of a register that may be wider than the instruction's type.
type register_type(decoding const& d, syntax::operand const& from, type least)
{
  auto const width = d.width_of(from);
  if (width <= size_of(least)) return least;
  return width == 8 ? type::b64 : width == 4 ? type::b32 : type::b16;
}

void decode_cvt(decoding& d)
{
  auto const from = d.take_type();
  auto const to = d.take_type();
  conversion how;
  take_rounding(d, how);
  how.ftz = d.take("ftz");
  how.saturate = d.take("sat");
  how.relu = d.take("relu");
  if (to == type::f16x2 || to == type::bf16x2) {
    if (from != type::f32) d.refuse();
    d.expect_count(3, 3);
    auto const a = d.source(1, from);
    auto const b = d.source(2, from);
    auto const run = to == type::f16x2 ? &pair_of_halves<binary16> : &pair_of_halves<bfloat16>;
    return emit(d, run, how, d.destination(0, to), a, b);
  }
  d.expect_count(2, 2);
  auto const held_in = register_type(d, d.operand(1), from);
  auto const result_in = is_float(to) ? to : register_type(d, d.operand(0), to);
  how.from_stride = static_cast<std::uint8_t>(std::max(size_of(held_in), 2U));
  how.to_stride = static_cast<std::uint8_t>(std::max(size_of(result_in), 2U));
  auto const a = d.source(1, held_in);
  auto const b = d.destination(0, result_in);
  emit(d, pick(d, to, from), how, b, a, k_no_operand);
}

}  // namespace

void add_convert(decode_table& to)
{
  to["cvt"] = &decode_cvt;
}

}  // namespace fatlink::interpreter
