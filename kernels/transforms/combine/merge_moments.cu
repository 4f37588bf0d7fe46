// SPDX-License-Identifier: Apache-2.0
// The number of values, their sum, the sum of their squares and their range, of integers: exact.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

struct moments {
  std::uint64_t count;
  std::int64_t sum;
  std::uint64_t squares;
  std::int32_t smallest;
  std::int32_t largest;
};

FATLINK_COMBINE(moments, a, b)
{
  auto const sum = static_cast<std::uint64_t>(a.sum) + static_cast<std::uint64_t>(b.sum);
  return {a.count + b.count, static_cast<std::int64_t>(sum), a.squares + b.squares,
          b.smallest < a.smallest ? b.smallest : a.smallest,
          b.largest > a.largest ? b.largest : a.largest};
}
