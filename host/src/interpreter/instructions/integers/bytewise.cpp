// SPDX-License-Identifier: Apache-2.0
// Source: PTX ISA 9.0, "prmt", "dp4a", "dp2a".
#include "interpreter/instructions/integers/bytewise.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

enum class permute_mode : std::uint32_t { index, f4e, b4e, rc8, ecl, ecr, rc16 };

/// The source byte of destination byte `index`: 0 to 7, plus 8 to repeat its sign (mode index).
unsigned permuted(permute_mode mode, unsigned selector, unsigned index) noexcept
{
  auto const s = selector & 3U;
  switch (mode) {
    case permute_mode::f4e:
      return s + index;
    case permute_mode::b4e:
      return (s - index) & 7U;
    case permute_mode::rc8:
      return s;
    case permute_mode::ecl:
      return std::max(s, index);
    case permute_mode::ecr:
      return std::min(s, index);
    case permute_mode::rc16:
      return (s & 1U) * 2 + (index & 1U);
    case permute_mode::index:
      break;
  }
  return selector >> (4 * index) & 0xFU;
}

/// prmt without a mode, without branches, so that loops are vectorised.
inline std::uint32_t permuted_by_index(std::uint32_t a, std::uint32_t b,
                                       std::uint32_t selector) noexcept
{
  std::uint32_t result = 0;
  for (unsigned index = 0; index < 4; ++index) {
    auto const nibble = selector >> (4 * index);
    auto const from_b = 0U - (nibble >> 2 & 1U);
    auto const word = (b & from_b) | (a & ~from_b);
    auto const byte = word >> (8 * (nibble & 3U)) & 0xFFU;
    auto const sign = (0U - (byte >> 7)) & 0xFFU;
    auto const repeats_sign = 0U - (nibble >> 3 & 1U);
    result |= ((sign & repeats_sign) | (byte & ~repeats_sign)) << (8 * index);
  }
  return result;
}

void prmt(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  auto const mode = static_cast<permute_mode>(o.flags);
  if (mode == permute_mode::index)
    return each_lane(mask, [=](unsigned i) {
      store(d, i,
            permuted_by_index(load<std::uint32_t>(a, i), load<std::uint32_t>(b, i),
                              load<std::uint32_t>(c, i)));
    });
  each_lane(mask, [=](unsigned i) {
    auto const bytes = std::uint64_t{load<std::uint32_t>(b, i)} << 32 | load<std::uint32_t>(a, i);
    auto const selector = load<std::uint32_t>(c, i);
    std::uint32_t result = 0;
    for (unsigned index = 0; index < 4; ++index) {
      auto const source = permuted(mode, selector, index);
      auto byte = static_cast<std::uint32_t>(bytes >> (8 * (source & 7U)) & 0xFFU);
      if ((source & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFFU : 0;  // the sign, repeated
      result |= byte << (8 * index);
    }
    store(d, i, result);
  });
}

/// Dot product of four bytes (or two halves with two bytes), added to c.
template <typename A, typename B, unsigned Count>
void dot(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  auto const offset = o.flags;  // of the first byte of b: 2 for dp2a.hi
  each_lane(mask, [=](unsigned i) {
    auto sum = load<std::uint32_t>(c, i);
    for (unsigned k = 0; k < Count; ++k) {
      auto const x = static_cast<A>(load<std::uint32_t>(a, i) >> (k * 8 * sizeof(A)));
      auto const y = static_cast<B>(load<std::uint32_t>(b, i) >> ((offset + k) * 8));
      sum +=
          static_cast<std::uint32_t>(static_cast<std::int32_t>(x) * static_cast<std::int32_t>(y));
    }
    store(d, i, sum);
  });
}

void decode_prmt(decoding& d)
{
  static constexpr std::pair<std::string_view, permute_mode> k_modes[] = {
      {"f4e", permute_mode::f4e}, {"b4e", permute_mode::b4e}, {"rc8", permute_mode::rc8},
      {"ecl", permute_mode::ecl}, {"ecr", permute_mode::ecr}, {"rc16", permute_mode::rc16}};
  auto selected = permute_mode::index;
  for (auto const& [word, mode] : k_modes)
    if (d.take(word)) selected = mode;
  if (d.take_type() != type::b32) d.refuse();
  d.emit(for_host<&prmt>(), type::b32, {type::b32, type::b32, type::b32}).flags =
      static_cast<std::uint32_t>(selected);
}

template <unsigned Count, typename A_unsigned, typename A_signed>
void decode_dot(decoding& d)
{
  auto const b = d.take_type();
  auto const a = d.take_type();
  auto const is_32_bits = [](type type) { return type == type::u32 || type == type::s32; };
  if (!is_32_bits(a) || !is_32_bits(b)) d.refuse();
  auto const upper = Count == 2 && d.take("hi");
  if (Count == 2 && !upper && !d.take("lo")) d.refuse("neither .lo nor .hi");
  handler run = nullptr;
  if (is_signed(a))
    run = is_signed(b) ? for_host<&dot<A_signed, std::int8_t, Count>>()
                       : for_host<&dot<A_signed, std::uint8_t, Count>>();
  else
    run = is_signed(b) ? for_host<&dot<A_unsigned, std::int8_t, Count>>()
                       : for_host<&dot<A_unsigned, std::uint8_t, Count>>();
  d.emit(run, type::b32, {type::b32, type::b32, type::b32}).flags = upper ? 2 : 0;
}

}  // namespace

void add_bytewise(decode_table& table)
{
  table["prmt"] = &decode_prmt;
  table["dp4a"] = &decode_dot<4, std::uint8_t, std::int8_t>;
  table["dp2a"] = &decode_dot<2, std::uint16_t, std::int16_t>;
}

}  // namespace fatlink::interpreter
