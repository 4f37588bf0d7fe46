// SPDX-License-Identifier: Apache-2.0
// The operands of operations that the lanes of a warp execute together, in operation::flags above
// the low 8 bits, which are the handler's own. They tell how to move operands (rendezvous.cpp).
#pragma once

#include "interpreter/decode/operation.hpp"

namespace fatlink::interpreter {

enum class predicate_place : std::uint32_t { none, d, immediate };

struct collective_shape {
  unsigned source_bytes = 0;       ///< of each lane of operand a; 0: not a register
  bool predicate_source = false;   ///< a is a predicate
  bool has_lane_operands = false;  ///< b and c are registers of 32 bits
  bool members_in_a = false;       ///< the member mask is a, otherwise e
  bool value_result = false;       ///< d is a register of 32 bits
  predicate_place predicate_result = predicate_place::none;
};

constexpr std::uint32_t k_mode_mask = 0xFF;
/// In `flags`, instead of a shape: all lanes of the warp meet at this very instruction.
constexpr std::uint32_t k_whole_warp = 1U << 30;

constexpr std::uint32_t flags_of(collective_shape const& shape, std::uint32_t mode) noexcept
{
  return mode | shape.source_bytes << 8 | std::uint32_t{shape.predicate_source} << 16 |
         std::uint32_t{shape.has_lane_operands} << 17 | std::uint32_t{shape.members_in_a} << 18 |
         std::uint32_t{shape.value_result} << 19 |
         static_cast<std::uint32_t>(shape.predicate_result) << 20;
}

inline collective_shape shape_of(operation const& op) noexcept
{
  return {.source_bytes = op.flags >> 8 & 0xFFU,
          .predicate_source = (op.flags >> 16 & 1) != 0,
          .has_lane_operands = (op.flags >> 17 & 1) != 0,
          .members_in_a = (op.flags >> 18 & 1) != 0,
          .value_result = (op.flags >> 19 & 1) != 0,
          .predicate_result = static_cast<predicate_place>(op.flags >> 20 & 3)};
}

}  // namespace fatlink::interpreter
