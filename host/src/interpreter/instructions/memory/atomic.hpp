// SPDX-License-Identifier: Apache-2.0
// Atomic read-modify-writes of memory: the operations, and which one an instruction states. Every
// memory order is treated as the strongest. Source: PTX ISA 9.0, "atom", "red".
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/instructions/arithmetic/floats.hpp"
#include "interpreter/instructions/arithmetic/integer_ops.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {

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
    auto const x = flushed_if<Ftz>(std::bit_cast<F>(old));
    auto const y = flushed_if<Ftz>(std::bit_cast<F>(b));
    if constexpr (sizeof(F) == 8)
      return std::bit_cast<T>(chosen_nan(y, x, created(x + y)));
    else
      return std::bit_cast<T>(flushed_if<Ftz>(canonical(x + y)));
  }
};
template <typename Half>
std::uint16_t atomic_half_sum(std::uint16_t a, std::uint16_t b) noexcept
{
  using half_float::add_rounding_to_odd, half_float::round_to;
  return round_to<Half>(add_rounding_to_odd(to_double(Half{a}), to_double(Half{b}))).bits;
}
template <typename Half>
struct op_add_half {
  template <typename T>
  T operator()(T old, T b, T) const
  {
    if constexpr (sizeof(T) == 2) return atomic_half_sum<Half>(old, b);
    auto const lower =
        atomic_half_sum<Half>(static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(b));
    auto const upper = atomic_half_sum<Half>(static_cast<std::uint16_t>(std::uint32_t{old} >> 16),
                                             static_cast<std::uint16_t>(std::uint32_t{b} >> 16));
    return static_cast<T>(std::uint32_t{upper} << 16 | lower);
  }
};

/// min or max of each half: a NaN is ignored beside a number, and -0 is less than +0.
template <typename Half, bool Max>
std::uint16_t atomic_half_extreme(std::uint16_t a, std::uint16_t b) noexcept
{
  auto const x = to_double(Half{a});
  auto const y = to_double(Half{b});
  if (std::isnan(x)) return std::isnan(y) ? Half::k_nan : b;
  if (std::isnan(y)) return a;
  if (x == y) return Max == ((a & 0x8000U) != 0) ? b : a;
  return Max == (x > y) ? a : b;
}
template <typename Half, bool Max>
struct op_extreme_half {
  template <typename T>
  T operator()(T old, T b, T) const
  {
    auto const lower = atomic_half_extreme<Half, Max>(static_cast<std::uint16_t>(old),
                                                      static_cast<std::uint16_t>(b));
    if constexpr (sizeof(T) == 2) return lower;
    auto const upper =
        atomic_half_extreme<Half, Max>(static_cast<std::uint16_t>(std::uint32_t{old} >> 16),
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
  if constexpr (std::is_same_v<Op, of_two<op_add>>)
    return {static_cast<T>(value.fetch_add(static_cast<bits>(b))), b != 0};
  auto old = value.load();
  auto changed = static_cast<bits>(Op{}(static_cast<T>(old), b, c));
  while (!value.compare_exchange_weak(old, changed))
    changed = static_cast<bits>(Op{}(static_cast<T>(old), b, c));
  return {static_cast<T>(old), old != changed};
}

/// Takes .noftz. @throws code_error (refused) of a type that has none.
inline void take_no_flush(decoding& d, type type)
{
  if (d.take("noftz") && !is_half(type))
    d.fail_unsupported(".noftz is valid only for .f16, .f16x2, .bf16 and .bf16x2");
}

/// Which handler executes the operation `name` on `type`: Make<T, Op, SharedOp>::run, where
/// SharedOp is the operation on shared memory.
template <template <typename, typename, typename> typename Make>
class update_choice {
 public:
  static handler pick(decoding const& d, std::string_view name, type type, space space)
  {
    if (name == "add") return addition(d, type, space);
    if (name == "cas") return of_bits<op_compare>(d, type, 2);
    if (name == "exch") return of_bits<op_exchange>(d, type, 4);
    if (name == "and") return of_bits<of_two<op_and>>(d, type, 4);
    if (name == "or") return of_bits<of_two<op_or>>(d, type, 4);
    if (name == "xor") return of_bits<of_two<op_xor>>(d, type, 4);
    if (name == "min") return extreme<of_two<op_min>, false>(d, type);
    if (name == "max") return extreme<of_two<op_max>, true>(d, type);
    if (name == "inc") return of_integers<op_increment>(d, type);
    if (name == "dec") return of_integers<op_decrement>(d, type);
    d.fail_unsupported();
  }

 private:
  template <typename T, typename Op, typename SharedOp = Op>
  static constexpr handler k_run = Make<T, Op, SharedOp>::run;

  template <typename Op>
  static handler of_bits(decoding const& d, type type, unsigned minimum)
  {
    if (!is_integer(type) || size_of(type) < minimum) d.fail_unsupported("not a supported type");
    return for_bits(d, size_of(type), []<typename T>() -> handler { return k_run<T, Op>; });
  }

  template <typename Op>
  static handler of_integers(decoding const& d, type type)
  {
    if (size_of(type) < 4) d.fail_unsupported();
    return for_integer(d, type, []<typename T>() -> handler { return k_run<T, Op>; });
  }

  template <typename Whole, bool Max>
  static handler extreme(decoding const& d, type type)
  {
    using half_float::bfloat16, half_float::binary16;
    switch (type) {
      case type::f16:
        return k_run<std::uint16_t, op_extreme_half<binary16, Max>>;
      case type::f16x2:
        return k_run<std::uint32_t, op_extreme_half<binary16, Max>>;
      case type::bf16:
        return k_run<std::uint16_t, op_extreme_half<bfloat16, Max>>;
      case type::bf16x2:
        return k_run<std::uint32_t, op_extreme_half<bfloat16, Max>>;
      default:
        return of_integers<Whole>(d, type);
    }
  }

  static handler addition(decoding const& d, type type, space space)
  {
    using half_float::bfloat16, half_float::binary16;
    switch (type) {
      case type::f32:
        return space == space::shared
                   ? k_run<std::uint32_t, op_add_real<float, false>>
                   : k_run<std::uint32_t, op_add_real<float, true>, op_add_real<float, false>>;
      case type::f64:
        return k_run<std::uint64_t, op_add_real<double, false>>;
      case type::f16:
        return k_run<std::uint16_t, op_add_half<binary16>>;
      case type::f16x2:
        return k_run<std::uint32_t, op_add_half<binary16>>;
      case type::bf16:
        return k_run<std::uint16_t, op_add_half<bfloat16>>;
      case type::bf16x2:
        return k_run<std::uint32_t, op_add_half<bfloat16>>;
      default:
        return of_integers<of_two<op_add>>(d, type);
    }
  }
};

}  // namespace fatlink::interpreter
