// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/memory/generic_address.hpp"

#include "interpreter/decode/address_space.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

/// immediate: the offset, and the window of the state space.
void add_offset(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) { store(d, i, load<std::uint64_t>(a, i) + o.immediate); });
}

/// An offset of 32 bits in shared memory: the sum has 32 bits, too.
void add_shared_offset(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const offset = static_cast<std::uint32_t>(o.immediate);
  each_lane(mask, [=](unsigned i) {
    store(d, i, k_shared_window + std::uint64_t{load<std::uint32_t>(a, i) + offset});
  });
}

}  // namespace

operand_offset emit_generic_address(decoding& d, syntax::operand const& address, space space)
{
  auto const parts = decode_address(d, address, space);
  auto const window = space == space::shared ? k_shared_window : 0;
  if (parts.base == k_no_operand) return d.constant(window + parts.offset, 8);
  auto const result = d.new_register(8);
  auto const is_narrow = parts.width == 4;
  auto& o = d.emit(is_narrow ? &add_shared_offset : &add_offset);
  o.d = result;
  o.a = parts.base;
  o.immediate = parts.offset + (is_narrow ? 0 : window);
  return result;
}

}  // namespace fatlink::interpreter
