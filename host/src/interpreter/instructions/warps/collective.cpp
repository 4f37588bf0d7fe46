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

result_pair take_results(decoding& d, type type)
{
  auto const& results = d.operand(0);
  syntax::operand const sink;
  auto const is_pair = results.kind == syntax::operand_kind::pair;
  return {d.destination(is_pair ? results.parts[0] : results, type),
          d.predicate_destination(is_pair ? results.parts[1] : sink)};
}

}  // namespace fatlink::interpreter
