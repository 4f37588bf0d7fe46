// SPDX-License-Identifier: Apache-2.0
// An operator for combine_N that is not commutative: an element is a map x -> factor * x + offset
// of unsigned integers of half its bits, and the result is the first map followed by the second
// one.
#include <cstdint>
#include <fatlink/typed_hooks.cuh>

template <unsigned Bytes>
struct unsigned_of;
template <>
struct unsigned_of<1> {
  using type = std::uint8_t;
};
template <>
struct unsigned_of<2> {
  using type = std::uint16_t;
};
template <>
struct unsigned_of<4> {
  using type = std::uint32_t;
};
template <>
struct unsigned_of<8> {
  using type = std::uint64_t;
};
using map = unsigned_of<FATLINK_ELEMENT_BYTES>::type;

FATLINK_COMBINE(map, first, second)
{
  constexpr unsigned half = 4 * FATLINK_ELEMENT_BYTES;
  constexpr std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  std::uint64_t const factor = second & mask;
  std::uint64_t const offset = second >> half;
  auto const product = (factor * (first & mask)) & mask;
  auto const sum = (factor * (first >> half) + offset) & mask;
  return static_cast<map>(sum << half | product);
}
