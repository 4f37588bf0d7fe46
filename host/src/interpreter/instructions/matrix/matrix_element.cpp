// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/matrix/matrix_element.hpp"

#include <array>
#include <bit>
#include <limits>

#include "interpreter/instructions/floats/float_ops.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

struct element_fact {
  std::string_view word;
  unsigned bits;
};
// In the order of the enumeration.
constexpr std::array<element_fact, 13> k_facts{{{"f16", 16},
                                                {"bf16", 16},
                                                {"tf32", 32},
                                                {"f64", 64},
                                                {"e4m3", 8},
                                                {"e5m2", 8},
                                                {"s8", 8},
                                                {"u8", 8},
                                                {"s4", 4},
                                                {"u4", 4},
                                                {"b1", 1},
                                                {"f32", 32},
                                                {"s32", 32}}};

/// A number whose exponent begins at the bit where that of a float does; `scale` corrects the bias.
float rescaled(std::uint32_t magnitude, bool is_negative, float scale) noexcept
{
  auto const value = std::bit_cast<float>(magnitude) * scale;
  return is_negative ? -value : value;
}

float half_value(std::uint32_t bits) noexcept
{
  auto const magnitude = (bits & 0x7FFFU) << 13;
  auto const is_negative = (bits & 0x8000U) != 0;
  if ((bits & 0x7C00U) == 0x7C00U) return rescaled(magnitude | 0x7F800000U, is_negative, 1.0F);
  return rescaled(magnitude, is_negative, 0x1p112F);
}

float e4m3_value(std::uint32_t bits) noexcept
{
  if ((bits & 0x7FU) == 0x7FU) return std::numeric_limits<float>::quiet_NaN();
  return rescaled((bits & 0x7FU) << 20, (bits & 0x80U) != 0, 0x1p120F);
}

}  // namespace

std::optional<element> parse_element(std::string_view word) noexcept
{
  for (std::size_t i = 0; i < k_facts.size(); ++i)
    if (k_facts[i].word == word) return static_cast<element>(i);
  return {};
}

unsigned bits_of(element type) noexcept
{
  return k_facts[static_cast<std::size_t>(type)].bits;
}

double real_value(element type, std::uint64_t bits) noexcept
{
  auto const word = static_cast<std::uint32_t>(bits);
  switch (type) {
    case element::f16:
      return half_value(word);
    case element::bf16:
      return std::bit_cast<float>(word << 16);
    case element::tf32:
      return std::bit_cast<float>(word & ~0x1FFFU);  // the lower bits are ignored
    case element::f64:
      return std::bit_cast<double>(bits);
    case element::e4m3:
      return e4m3_value(word);
    case element::e5m2:
      return half_value(word << 8);
    default:
      return std::bit_cast<float>(word);
  }
}

std::int64_t whole_value(element type, std::uint64_t bits) noexcept
{
  switch (type) {
    case element::s8:
      return static_cast<std::int8_t>(bits);
    case element::s4:
      return static_cast<std::int8_t>(bits << 4) >> 4;
    default:
      return static_cast<std::int64_t>(bits);
  }
}

std::uint64_t rounded_bits(element type, double value) noexcept
{
  if (type == element::f64) return std::bit_cast<std::uint64_t>(value);
  if (type == element::f16) return half_float::round_to<half_float::binary16>(value).bits;
  return std::bit_cast<std::uint32_t>(canonical(static_cast<float>(value)));
}

}  // namespace fatlink::interpreter
