// SPDX-License-Identifier: Apache-2.0
// Whether the compiler vectorises the reference device's integer arithmetic correctly: exit status
// 0. g++ 12.2 computes the high half of int16_t products as unsigned ones where they are widened to
// int64_t (right at -O1); compile with -DFATLINK_SHOW_THE_ERROR to see that this program notices.
#include <cstdint>
#include <limits>

#include "interpreter/execution/cpu_level.hpp"
#include "interpreter/instructions/arithmetic/integer_ops.hpp"

namespace {

using namespace fatlink::interpreter;

constexpr unsigned k_lanes = 32;

#ifdef FATLINK_SHOW_THE_ERROR
struct op_checked_high {
  template <typename T>
  T operator()(T a, T b) const
  {
    return static_cast<T>(static_cast<std::int64_t>(a) * static_cast<std::int64_t>(b) >>
                          (8 * sizeof(T)));
  }
};
#else
using op_checked_high = op_high;
#endif

template <typename Op, typename T>
[[gnu::always_inline]] inline void for_lanes(T* result, T const* a, T const* b)
{
#pragma GCC ivdep
  for (unsigned lane = 0; lane < k_lanes; ++lane) result[lane] = Op{}(a[lane], b[lane]);
}

template <typename Op, typename T>
[[gnu::noinline]] void vectorised(T* result, T const* a, T const* b)
{
  for_lanes<Op>(result, a, b);
}

#ifdef FATLINK_HAS_LEVEL_3
template <typename Op, typename T>
FATLINK_LEVEL_3 void vectorised_at_level_3(T* result, T const* a, T const* b)
{
  for_lanes<Op>(result, a, b);
}
#endif

/// One lane, which is not vectorised.
template <typename Op, typename T>
[[gnu::noinline]] T computed(T volatile const* a, T volatile const* b)
{
  return Op{}(T(*a), T(*b));
}

template <typename Op, typename T>
bool is_right()
{
  T a[k_lanes], b[k_lanes], result[k_lanes];
  for (unsigned lane = 0; lane < k_lanes; ++lane) {
    auto const extreme =
        lane % 2 == 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    a[lane] = static_cast<T>(lane % 3 == 0 ? extreme : static_cast<T>(lane * 1237U) - 16000);
    b[lane] = static_cast<T>(lane % 5 == 0 ? extreme : static_cast<T>(lane * 311U) - 33);
  }
  auto const agrees = [&] {
    for (unsigned lane = 0; lane < k_lanes; ++lane)
      if (result[lane] != computed<Op, T>(&a[lane], &b[lane])) return false;
    return true;
  };
  vectorised<Op>(result, a, b);
  if (!agrees()) return false;
#ifdef FATLINK_HAS_LEVEL_3
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi2") != 0) {
    vectorised_at_level_3<Op>(result, a, b);
    if (!agrees()) return false;
  }
#endif
  return true;
}

template <typename T>
bool are_right()
{
  return is_right<op_checked_high, T>() && is_right<op_low, T>() && is_right<op_add, T>() &&
         is_right<op_subtract, T>() && is_right<op_min, T>() && is_right<op_max, T>() &&
         is_right<op_divide, T>() && is_right<op_remainder, T>();
}

}  // namespace

int main()
{
  auto const is_sound = are_right<std::int8_t>() && are_right<std::uint8_t>() &&
                        are_right<std::int16_t>() && are_right<std::uint16_t>() &&
                        are_right<std::int32_t>() && are_right<std::uint32_t>() &&
                        are_right<std::int64_t>() && are_right<std::uint64_t>();
  return is_sound ? 0 : 1;
}
