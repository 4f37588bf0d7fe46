// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/collective.hpp"

namespace fatlink::interpreter {

bool meet(warp& w, operation const& o, operand_offset members, lane_mask mask)
{
  auto const* const named = w.at(members);
  lane_mask all = 0;
  for (auto left = mask; left != 0; left &= left - 1) {
    auto const lane = first_lane(left);
    auto const mine = load<lane_mask>(named, lane);
    if ((mine >> lane & 1) == 0)
      w.fail(fault::deadlock, "the member mask does not name the thread itself", lane, o);
    all |= mine;
  }
  return w.converged(all, mask);
}

result_pair take_results(decoding& d, type as)
{
  auto const& to = d.operand(0);
  syntax::operand const nobody;
  auto const two = to.kind == syntax::operand_kind::pair;
  return {d.destination(two ? to.parts[0] : to, as),
          d.predicate_destination(two ? to.parts[1] : nobody)};
}

}  // namespace fatlink::interpreter
