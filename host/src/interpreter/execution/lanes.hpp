// SPDX-License-Identifier: Apache-2.0
// Loops over lanes. If all lanes are active, the loop has a constant count and no branches, so the
// compiler vectorises it. A destination may also be a source; lane i depends only on lane i.
// for_host() selects a handler that is compiled for the host's level of x86-64.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

#include "interpreter/decode/operation.hpp"
#include "interpreter/execution/cpu_level.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {

template <typename T>
T load(std::byte const* lanes, unsigned lane) noexcept
{
  T value;
  std::memcpy(&value, lanes + lane * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void store(std::byte* lanes, unsigned lane, T value) noexcept
{
  std::memcpy(lanes + lane * sizeof(T), &value, sizeof(T));
}

/// The handler of instructions that change nothing on this device: hints, and waits for what is
/// complete already.
inline void do_nothing(warp&, operation const&, lane_mask) {}

template <typename Body>
[[gnu::always_inline]] inline void each_lane(lane_mask mask, Body const& body)
{
  if (mask == k_all_lanes) {
#ifndef __clang__
#pragma GCC ivdep
#endif
    for (unsigned lane = 0; lane < k_lanes; ++lane) body(lane);
    return;
  }
  for (; mask != 0; mask &= mask - 1) body(static_cast<unsigned>(std::countr_zero(mask)));
}

#ifdef FATLINK_HAS_LEVEL_3
template <handler Base>
FATLINK_LEVEL_3 void at_level_3(warp& w, operation const& o, lane_mask mask)
{
  Base(w, o, mask);
}
#endif

/// The handler `Base` as compiled for the host's level of x86-64 (cpu_level.hpp).
template <handler Base>
handler for_host() noexcept
{
#ifdef FATLINK_HAS_LEVEL_3
  if (has_level_3) return &at_level_3<Base>;
#endif
  return Base;
}

/// Calls `use` with the bytes of a lane of a register that holds a T, as a constant.
template <typename T, typename Use>
[[gnu::always_inline]] inline void with_stride(unsigned stride, Use const& use)
{
  if constexpr (sizeof(T) <= 2)
    if (stride == 2) return use(std::integral_constant<unsigned, 2>{});
  if constexpr (sizeof(T) <= 4)
    if (stride == 4) return use(std::integral_constant<unsigned, 4>{});
  use(std::integral_constant<unsigned, 8>{});
}

template <typename R, typename A, typename Op>
void unary(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) { store<R>(d, i, Op{}(load<A>(a, i))); });
}

template <typename R, typename A, typename Op>
void binary(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  each_lane(mask, [=](unsigned i) { store<R>(d, i, Op{}(load<A>(a, i), load<A>(b, i))); });
}

/// c has the result's type: mad.wide adds a wide c to the wide product.
template <typename R, typename A, typename Op>
void ternary(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  each_lane(mask,
            [=](unsigned i) { store<R>(d, i, Op{}(load<A>(a, i), load<A>(b, i), load<R>(c, i))); });
}

}  // namespace fatlink::interpreter
