// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/warps/collective.hpp"

namespace fatlink::interpreter {

bool meet(warp& w, operation const& o, operand_offset members, lane_mask mask)
{
  auto const* const masks = w.at(members);
  lane_mask expected = 0;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = first_lane(remaining);
    auto const members_of_lane = load<lane_mask>(masks, lane);
    if ((members_of_lane >> lane & 1) == 0)
      w.fail(fault::deadlock, "the member mask does not contain the thread itself", lane, o);
    expected |= members_of_lane;
  }
  return w.converged(expected, mask, o);
}

void read_active_mask(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  each_lane(mask, [=](unsigned i) { store(d, i, mask); });
}

operand_offset take_members(decoding& d, std::size_t index)
{
  constexpr unsigned k_last_without_sync = 63;
  if (d.take("sync")) {
    d.expect_count(index + 1, index + 1);
    return d.source(index, type::b32);
  }
  if (d.version() > k_last_without_sync) d.reject("it has no .sync, which PTX 6.4 and newer need");
  d.expect_count(index, index);
  auto const members = d.new_register(sizeof(lane_mask));
  d.emit(&read_active_mask).d = members;
  return members;
}

result_pair take_results(decoding& d, type type)
{
  auto const& results = d.operand(0);
  syntax::operand const sink;
  auto const is_pair = results.kind == syntax::operand_kind::pair;
  return {d.destination(is_pair ? results.parts[0] : results, type),
          d.predicate_destination(is_pair ? results.parts[1] : sink)};
}

}  // namespace fatlink::interpreter
