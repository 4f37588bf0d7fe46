// SPDX-License-Identifier: Apache-2.0
// The comparisons of setp and set, and their combination with a predicate.
// Source: PTX ISA 9.0, "Comparison and Selection Instructions".
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "interpreter/decode/operation.hpp"

namespace fatlink::interpreter {

/// With a NaN operand, ordered comparisons are false and unordered ones (…u) true.
enum class relation : std::uint32_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan
};

struct relation_name {
  std::string_view word;
  relation value;
};
inline constexpr std::array k_relations{
    relation_name{"eq", relation::eq},   relation_name{"ne", relation::ne},
    relation_name{"lt", relation::lt},   relation_name{"le", relation::le},
    relation_name{"gt", relation::gt},   relation_name{"ge", relation::ge},
    relation_name{"lo", relation::lt},   relation_name{"ls", relation::le},
    relation_name{"hi", relation::gt},   relation_name{"hs", relation::ge},
    relation_name{"equ", relation::equ}, relation_name{"neu", relation::neu},
    relation_name{"ltu", relation::ltu}, relation_name{"leu", relation::leu},
    relation_name{"gtu", relation::gtu}, relation_name{"geu", relation::geu},
    relation_name{"num", relation::num}, relation_name{"nan", relation::nan}};

template <typename T>
bool is_nan(T value) noexcept
{
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}

template <relation R, typename T>
bool holds(T a, T b) noexcept
{
  auto const unordered = is_nan(a) || is_nan(b);
  switch (R) {
    case relation::eq:
      return a == b;
    case relation::ne:
      return a != b && !unordered;
    case relation::lt:
      return a < b;
    case relation::le:
      return a <= b;
    case relation::gt:
      return a > b;
    case relation::ge:
      return a >= b;
    case relation::equ:
      return a == b || unordered;
    case relation::neu:
      return a != b;
    case relation::ltu:
      return a < b || unordered;
    case relation::leu:
      return a <= b || unordered;
    case relation::gtu:
      return a > b || unordered;
    case relation::geu:
      return a >= b || unordered;
    case relation::num:
      return !unordered;
    case relation::nan:
      return unordered;
  }
  return false;
}

/// How setp and set combine the comparison with a predicate; in operation::flags.
enum class combination : std::uint32_t { none, conjunction, disjunction, exclusive };

inline lane_mask combined(lane_mask bits, lane_mask operand, std::uint32_t code) noexcept
{
  switch (static_cast<combination>(code)) {
    case combination::conjunction:
      return bits & operand;
    case combination::disjunction:
      return bits | operand;
    case combination::exclusive:
      return bits ^ operand;
    case combination::none:
      break;
  }
  return bits;
}

}  // namespace fatlink::interpreter
