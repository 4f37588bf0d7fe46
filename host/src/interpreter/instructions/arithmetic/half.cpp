// SPDX-License-Identifier: Apache-2.0
// Arithmetic on f16, bf16 and pairs of them. Source: PTX ISA 9.0, "Half Precision
// Floating-Point Instructions".
#include <bit>
#include <type_traits>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/arithmetic/floats.hpp"
#include "interpreter/instructions/arithmetic/half.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {

namespace half_numbers {

namespace {

using half_float::bfloat16;

/// The elements of the lanes of `mask`: `Count` of each lane.
template <unsigned Count, typename Body>
[[gnu::always_inline]] inline void each_element(lane_mask mask, Body const& body)
{
  if (mask == k_all_lanes) {
#ifndef __clang__
#pragma GCC ivdep
#endif
    for (unsigned i = 0; i < k_lanes * Count; ++i) body(i);
    return;
  }
  for (; mask != 0; mask &= mask - 1)
    for (unsigned k = 0; k < Count; ++k)
      body(static_cast<unsigned>(std::countr_zero(mask)) * Count + k);
}

template <typename Half, typename Op, unsigned Count, unsigned Sources>
void half_arithmetic(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = Sources > 2 ? w.at(o.c) : a;
  auto const flags = o.flags;
  if (flags == 0)
    return each_element<Count>(mask, [=](unsigned i) {
      store(d, i,
            computed<Half, Op>(load<std::uint16_t>(a, i), load<std::uint16_t>(b, i),
                               load<std::uint16_t>(c, i)));
    });
  each_element<Count>(mask, [=](unsigned i) {
    auto const read = [=](std::byte const* source) {
      auto const bits = load<std::uint16_t>(source, i);
      return (flags & k_ftz) != 0 ? flushed<Half>(bits) : bits;
    };
    store(d, i, modified<Half>(computed<Half, Op>(read(a), read(b), read(c)), flags));
  });
}

#ifdef FATLINK_HAS_LEVEL_3
/// Eight numbers. bf16: a sum of three has middle exponents (half_vectors.hpp).
template <typename Half, typename Op>
FATLINK_LEVEL_3_INLINE void compute_vector(std::byte* d, std::byte const* a, std::byte const* b,
                                           std::byte const* c)
{
  using namespace half_vectors;
  auto const x = widened<Half>(a);
  auto const y = widened<Half>(b);
  __m256 result = x;
  if constexpr (std::is_same_v<Op, op_fma>) {
    result = sum_rounded_to_odd(_mm256_mul_ps(x, y), widened<Half>(c));
  } else if constexpr (std::is_same_v<Op, op_add>) {
    result = _mm256_add_ps(x, y);
  } else if constexpr (std::is_same_v<Op, op_subtract>) {
    result = _mm256_sub_ps(x, y);
  } else {
    result = _mm256_mul_ps(x, y);
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(d), narrowed<Half>(result));
}

template <typename Half, typename Op, unsigned Count, unsigned Sources>
FATLINK_LEVEL_3 void half_vector_arithmetic(warp& w, operation const& o, lane_mask mask)
{
  constexpr unsigned k_bytes = k_lanes * Count * sizeof(std::uint16_t);
  if (o.flags != 0) return half_arithmetic<Half, Op, Count, Sources>(w, o, mask);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = Sources > 2 ? w.at(o.c) : a;
  if constexpr (std::is_same_v<Half, bfloat16> && std::is_same_v<Op, op_fma>)
    for (auto const* const numbers : {a, b, c})
      if (!half_vectors::have_middle_exponents<k_bytes>(numbers))
        return half_arithmetic<Half, Op, Count, Sources>(w, o, mask);
  alignas(32) std::byte partial[k_bytes];
  auto* const results = mask == k_all_lanes ? d : partial;
  for (unsigned i = 0; i < k_bytes; i += half_vectors::k_width * sizeof(std::uint16_t))
    compute_vector<Half, Op>(results + i, a + i, b + i, c + i);
  if (mask == k_all_lanes) return;
  each_element<Count>(mask, [&](unsigned i) { store(d, i, load<std::uint16_t>(partial, i)); });
}
#endif

template <typename Half, typename Op, unsigned Count, unsigned Sources>
handler pick_arithmetic() noexcept
{
#ifdef FATLINK_HAS_LEVEL_3
  if (has_level_3) return &half_vector_arithmetic<Half, Op, Count, Sources>;
#endif
  return &half_arithmetic<Half, Op, Count, Sources>;
}

template <typename Half, bool Max, unsigned Count>
void half_extreme(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const ftz = (o.flags & k_ftz) != 0;
  auto const nan_wins = (o.flags & k_nan_wins) != 0;
  each_element<Count>(mask, [=](unsigned i) {
    auto const x = load<std::uint16_t>(a, i);
    auto const y = load<std::uint16_t>(b, i);
    store(d, i,
          extreme<Half, Max>(ftz ? flushed<Half>(x) : x, ftz ? flushed<Half>(y) : y, nan_wins));
  });
}

#ifdef FATLINK_HAS_LEVEL_3
template <typename Half, bool Max, unsigned Count>
FATLINK_LEVEL_3 void half_vector_extreme(warp& w, operation const& o, lane_mask mask)
{
  if ((o.flags & k_ftz) != 0 || mask != k_all_lanes)
    return half_extreme<Half, Max, Count>(w, o, mask);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  for (unsigned i = 0; i < k_lanes * Count * sizeof(std::uint16_t); i += sizeof(__m128i)) {
    auto const x = _mm_loadu_si128(reinterpret_cast<__m128i const*>(a + i));
    auto const y = _mm_loadu_si128(reinterpret_cast<__m128i const*>(b + i));
    auto const result = half_vectors::extremes<Half, Max>(x, y, (o.flags & k_nan_wins) != 0);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(d + i), result);
  }
}
#endif

template <typename Half, bool Max, unsigned Count>
handler pick_extreme() noexcept
{
#ifdef FATLINK_HAS_LEVEL_3
  if (has_level_3) return &half_vector_extreme<Half, Max, Count>;
#endif
  return &half_extreme<Half, Max, Count>;
}

/// abs and neg of `Count` numbers. A NaN becomes the canonical one.
template <typename Half, bool Negate, unsigned Count>
void half_sign(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const ftz = (o.flags & k_ftz) != 0;
  each_element<Count>(mask, [=](unsigned i) {
    auto bits = load<std::uint16_t>(a, i);
    if (ftz) bits = flushed<Half>(bits);
    auto const changed = static_cast<std::uint16_t>(Negate ? bits ^ 0x8000 : bits & 0x7FFF);
    store(d, i, is_nan<Half>(bits) ? Half::k_nan : changed);
  });
}

template <typename Half, unsigned Count>
handler pick_half(decoding const& d, std::string_view name)
{
  if (name == "add") return pick_arithmetic<Half, op_add, Count, 2>();
  if (name == "sub") return pick_arithmetic<Half, op_subtract, Count, 2>();
  if (name == "mul") return pick_arithmetic<Half, op_multiply, Count, 2>();
  if (name == "fma") return pick_arithmetic<Half, op_fma, Count, 3>();
  if (name == "min") return pick_extreme<Half, false, Count>();
  if (name == "max") return pick_extreme<Half, true, Count>();
  if (name == "abs") return for_host<&half_sign<Half, false, Count>>();
  if (name == "neg") return for_host<&half_sign<Half, true, Count>>();
  d.fail_unsupported();
}

unsigned source_count(std::string_view name) noexcept
{
  if (name == "abs" || name == "neg") return 1;
  return name == "fma" ? 3 : 2;
}

handler pick_half(decoding const& d, std::string_view name, type type)
{
  switch (type) {
    case type::f16:
      return pick_half<binary16, 1>(d, name);
    case type::f16x2:
      return pick_half<binary16, 2>(d, name);
    case type::bf16:
      return pick_half<bfloat16, 1>(d, name);
    case type::bf16x2:
      return pick_half<bfloat16, 2>(d, name);
    default:
      d.fail_unsupported();
  }
}

/// Takes the modifiers that the instruction has.
std::uint32_t take_half_flags(decoding& d, std::string_view name, type type)
{
  auto const has_sign_only = name == "abs" || name == "neg";
  auto const is_extreme = name == "min" || name == "max";
  std::uint32_t flags = 0;
  if (is_binary16(type) && d.take("ftz")) flags |= k_ftz;
  if (is_extreme && d.take("NaN")) flags |= k_nan_wins;
  if (name == "fma" && d.take("relu")) flags |= k_relu;
  if (is_extreme || has_sign_only) return flags;
  (void)d.take("rn");
  if (is_binary16(type) && d.take("sat")) flags |= k_saturate;
  return flags;
}

}  // namespace

}  // namespace half_numbers

void decode_half_arithmetic(decoding& d, std::string_view name, type type)
{
  auto const flags = half_numbers::take_half_flags(d, name, type);
  auto const sources = half_numbers::source_count(name);
  d.expect_count(sources + 1, sources + 1);
  operand_offset operands[3]{k_no_operand, k_no_operand, k_no_operand};
  for (unsigned i = 0; i < sources; ++i) operands[i] = d.source(i + 1, type);
  auto const result = d.destination(0, type);
  auto& o = d.emit(half_numbers::pick_half(d, name, type));
  o.d = result;
  o.a = operands[0];
  o.b = operands[1];
  o.c = operands[2];
  o.flags = flags;
}

}  // namespace fatlink::interpreter
