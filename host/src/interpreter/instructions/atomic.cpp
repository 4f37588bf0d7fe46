// SPDX-License-Identifier: Apache-2.0
// atom and red: one atomic read-modify-write of the host for each lane, in the order of the lanes.
// It is also atomic between blocks, which run on different cores. Every memory order is treated as
// the strongest. Source: PTX ISA 9.0, "atom", "red".
#include <algorithm>
#include <array>
#include <atomic>
#include <type_traits>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/float_ops.hpp"
#include "interpreter/instructions/integer_ops.hpp"
#include "interpreter/instructions/memory_operand.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

using half_float::add_rounding_to_odd;
using half_float::bfloat16;
using half_float::binary16;
using half_float::round_to;

// Operations: the new value, from the old value, b and c.
template <typename Op>
struct of_two {
  template <typename T>
  T operator()(T old, T b, T) const
  {
    return Op{}(old, b);
  }
};
struct op_exchange {
  template <typename T>
  T operator()(T, T b, T) const
  {
    return b;
  }
};
struct op_compare {
  template <typename T>
  T operator()(T old, T b, T c) const
  {
    return old == b ? c : old;
  }
};
struct op_increment {
  template <typename T>
  T operator()(T old, T b, T) const
  {
    return old >= b ? T{0} : static_cast<T>(old + 1);
  }
};
struct op_decrement {
  template <typename T>
  T operator()(T old, T b, T) const
  {
    return old == 0 || old > b ? b : static_cast<T>(old - 1);
  }
};
/// Adds the bits of F. f32 denormals are flushed in global memory, not in shared memory.
template <typename F, bool Ftz>
struct op_add_real {
  template <typename T>
  T operator()(T old, T b, T) const
  {
    auto const sum = flushed_if<Ftz>(std::bit_cast<F>(old)) + flushed_if<Ftz>(std::bit_cast<F>(b));
    return std::bit_cast<T>(flushed_if<Ftz>(canonical(sum)));
  }
};
template <typename Half>
std::uint16_t half_sum(std::uint16_t a, std::uint16_t b) noexcept
{
  return round_to<Half>(add_rounding_to_odd(to_double(Half{a}), to_double(Half{b}))).bits;
}
template <typename Half>
struct op_add_half {
  template <typename T>
  T operator()(T old, T b, T) const
  {
    if constexpr (sizeof(T) == 2) return half_sum<Half>(old, b);
    auto const lower =
        half_sum<Half>(static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(b));
    auto const upper = half_sum<Half>(static_cast<std::uint16_t>(std::uint32_t{old} >> 16),
                                      static_cast<std::uint16_t>(std::uint32_t{b} >> 16));
    return static_cast<T>(std::uint32_t{upper} << 16 | lower);
  }
};

template <typename T>
struct updated {
  T old;
  bool has_changed;
};

template <typename T, typename Op>
updated<T> update(std::byte* element, T b, T c)
{
  using bits = std::make_unsigned_t<T>;
  std::atomic_ref<bits> const value(*reinterpret_cast<bits*>(element));
  auto old = value.load();
  auto changed = static_cast<bits>(Op{}(static_cast<T>(old), b, c));
  while (!value.compare_exchange_weak(old, changed))
    changed = static_cast<bits>(Op{}(static_cast<T>(old), b, c));
  return {static_cast<T>(old), old != changed};
}

enum atomic_flags : std::uint32_t { k_shared = 1, k_narrow_address = 2 };

/// `Op`, or `SharedOp` where a generic address is in shared memory.
template <typename T, typename Op, typename SharedOp = Op>
void atomic(warp& w, operation const& o, lane_mask mask)
{
  auto const* const a = o.a == k_no_operand ? nullptr : w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = o.c == k_no_operand ? nullptr : w.at(o.c);
  auto* const d = o.d == k_no_operand ? nullptr : w.at(o.d);
  bool has_changed = false;  // otherwise it waits, like a lock that is taken
  std::byte const* last_element = nullptr;
  T last{};
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const i = static_cast<unsigned>(std::countr_zero(remaining));
    auto address = o.immediate;
    if (a != nullptr)
      address +=
          (o.flags & k_narrow_address) != 0 ? load<std::uint32_t>(a, i) : load<std::uint64_t>(a, i);
    auto* const element = (o.flags & k_shared) != 0
                              ? w.resolve_shared(address, sizeof(T), i, o, true)
                              : w.resolve(address, sizeof(T), i, o, true);
    auto const operand = load<T>(b, i);
    auto const other = c == nullptr ? T{} : load<T>(c, i);
    auto const is_shared = !std::is_same_v<Op, SharedOp> && w.block().owns_shared(element);
    auto const result = is_shared ? update<T, SharedOp>(element, operand, other)
                                  : update<T, Op>(element, operand, other);
    has_changed |= result.has_changed;
    last_element = element;
    last = result.old;
    if (d != nullptr) store<T>(d, i, result.old);
  }
  if (!has_changed) w.note_poll(o, last_element, static_cast<std::uint64_t>(last));
}

template <typename Op>
handler of_bits(decoding const& d, type type, unsigned minimum)
{
  if (!is_integer(type) || size_of(type) < minimum) d.refuse("not a supported type");
  return for_bits(d, size_of(type), []<typename T>() -> handler { return &atomic<T, Op>; });
}

template <typename Op>
handler of_integers(decoding const& d, type type)
{
  if (size_of(type) < 4) d.refuse();
  return for_integer(d, type, []<typename T>() -> handler { return &atomic<T, Op>; });
}

handler addition(decoding const& d, type type, space space)
{
  switch (type) {
    case type::f32:
      return space == space::shared
                 ? &atomic<std::uint32_t, op_add_real<float, false>>
                 : &atomic<std::uint32_t, op_add_real<float, true>, op_add_real<float, false>>;
    case type::f64:
      return &atomic<std::uint64_t, op_add_real<double, false>>;
    case type::f16:
      return &atomic<std::uint16_t, op_add_half<binary16>>;
    case type::f16x2:
      return &atomic<std::uint32_t, op_add_half<binary16>>;
    case type::bf16:
      return &atomic<std::uint16_t, op_add_half<bfloat16>>;
    case type::bf16x2:
      return &atomic<std::uint32_t, op_add_half<bfloat16>>;
    default:
      return of_integers<of_two<op_add>>(d, type);
  }
}

handler pick(decoding const& d, std::string_view name, type type, space space)
{
  if (name == "add") return addition(d, type, space);
  if (name == "cas") return of_bits<op_compare>(d, type, 2);
  if (name == "exch") return of_bits<op_exchange>(d, type, 4);
  if (name == "and") return of_bits<of_two<op_and>>(d, type, 4);
  if (name == "or") return of_bits<of_two<op_or>>(d, type, 4);
  if (name == "xor") return of_bits<of_two<op_xor>>(d, type, 4);
  if (name == "min") return of_integers<of_two<op_min>>(d, type);
  if (name == "max") return of_integers<of_two<op_max>>(d, type);
  if (name == "inc") return of_integers<op_increment>(d, type);
  if (name == "dec") return of_integers<op_decrement>(d, type);
  d.refuse();
}

template <bool HasResult>
void decode_atomic(decoding& d)
{
  auto const type = d.take_type();
  (void)d.take("noftz");
  (void)take_order(d);
  (void)d.take("acq_rel");
  take_scope(d);
  auto const space = take_space(d);
  auto const name = d.take_next();
  auto const run = pick(d, name, type, space);
  constexpr std::size_t k_address = HasResult ? 1 : 0;
  auto const sources = name == "cas" ? 2U : 1U;
  d.expect_count(k_address + 1 + sources, k_address + 1 + sources);

  auto const address = decode_address(d, d.operand(k_address), space);
  auto const b = d.source(k_address + 1, type);
  auto const c = sources == 2 ? d.source(k_address + 2, type) : k_no_operand;
  auto const result = HasResult ? d.destination(0, type) : k_no_operand;
  auto& o = d.emit(run);
  o.d = result;
  o.a = address.base;
  o.b = b;
  o.c = c;
  o.immediate = address.offset;
  o.flags = (space == space::shared ? k_shared : 0U) | (address.width == 4 ? k_narrow_address : 0U);
}

}  // namespace

void add_atomic(decode_table& table)
{
  table["atom"] = &decode_atomic<true>;
  table["red"] = &decode_atomic<false>;
}

}  // namespace fatlink::interpreter
