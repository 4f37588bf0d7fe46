// SPDX-License-Identifier: Apache-2.0
// Operations of a warp (shfl.sync, vote.sync, bar.warp.sync, …) whose lanes arrive at different
// instructions of the same kind: both branches of an `if`, or a function and an inlined copy of it.
// Their operands are gathered into scratch registers, the operation runs once for all lanes, and
// the results are distributed.
#include <bit>
#include <cstring>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/execution/rendezvous.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {
namespace {

// Places of the scratch registers: room for 32 lanes of 8 bytes each.
enum scratch_place : operand_offset {
  k_place_a = 0,
  k_place_b = 256,
  k_place_c = 512,
  k_place_e = 768,
  k_place_d = 1024,
  k_scratch_bytes = 1280
};
// Scratch predicates; 0 is always false.
constexpr std::uint32_t k_source_predicate = 1;
constexpr std::uint32_t k_result_predicate = 2;

/// The lanes that wait at `op`, and their registers.
struct party {
  operation const* op = nullptr;
  interpreter::frame* frame = nullptr;
  lane_mask lanes = 0;
};

struct scratch {
  alignas(8) std::byte registers[k_scratch_bytes] = {};
  std::uint32_t predicates[3] = {};
};

void copy_lanes(std::byte* target, std::byte const* source, lane_mask lanes, unsigned width)
{
  each_lane(lanes, [=](unsigned lane) {
    std::memcpy(target + std::size_t{lane} * width, source + std::size_t{lane} * width, width);
  });
}

std::byte const* source_of(party const& party, operand_offset operand)
{
  auto const& code = *party.frame->code;
  return (operand & k_constant) != 0
             ? code.constants.data() + (operand & ~k_constant)
             : reinterpret_cast<std::byte const*>(party.frame->registers.data()) + operand;
}

void gather(scratch& space, party const& party)
{
  auto const shape = shape_of(*party.op);
  auto const take = [&](operand_offset place, operand_offset operand, unsigned width) {
    copy_lanes(space.registers + place, source_of(party, operand), party.lanes, width);
  };
  if (shape.source_bytes != 0) take(k_place_a, party.op->a, shape.source_bytes);
  if (shape.has_lane_operands) {
    take(k_place_b, party.op->b, 4);
    take(k_place_c, party.op->c, 4);
  }
  if (!shape.members_in_a) take(k_place_e, party.op->e, 4);
  if (shape.predicate_source)
    space.predicates[k_source_predicate] |=
        (party.frame->predicates[party.op->a >> 1] ^ (0 - (party.op->a & 1))) & party.lanes;
}

/// The lanes of all member masks.
lane_mask members_in(scratch const& space, operation const& op, lane_mask lanes)
{
  auto const* const masks = space.registers + (shape_of(op).members_in_a ? k_place_a : k_place_e);
  lane_mask members = 0;
  for (; lanes != 0; lanes &= lanes - 1)
    members |= load<lane_mask>(masks, static_cast<unsigned>(std::countr_zero(lanes)));
  return members;
}

void distribute(scratch const& space, party const& party)
{
  auto const shape = shape_of(*party.op);
  if (shape.value_result)
    copy_lanes(reinterpret_cast<std::byte*>(party.frame->registers.data()) + party.op->d,
               space.registers + k_place_d, party.lanes, 4);
  if (shape.predicate_result == predicate_place::none) return;
  auto const place = shape.predicate_result == predicate_place::d
                         ? party.op->d
                         : static_cast<std::uint32_t>(party.op->immediate);
  auto& predicate = party.frame->predicates[place >> 1];
  predicate = (predicate & ~party.lanes) | (space.predicates[k_result_predicate] & party.lanes);
}

/// `op` with its operands in scratch registers.
operation moved(operation op)
{
  auto const shape = shape_of(op);
  op.a = shape.predicate_source ? 2 * k_source_predicate : operand_offset{k_place_a};
  op.b = k_place_b;
  op.c = k_place_c;
  op.e = k_place_e;
  op.d = shape.predicate_result == predicate_place::d ? 2 * k_result_predicate
                                                      : operand_offset{k_place_d};
  op.immediate = 2 * k_result_predicate;
  return op;
}

}  // namespace

/// If groups that wait elsewhere at the same kind of instruction are all that is `missing`: runs it
/// for them and for the running group, and lets them continue.
bool warp::meet_elsewhere(lane_mask missing, lane_mask arrived, operation const& op)
{
  if ((op.flags & k_whole_warp) != 0) return false;
  std::vector<group*> partners;
  lane_mask remaining = missing;
  for (auto& group : groups_) {
    if (group.state != group_state::converging || (group.lanes & missing) == 0) continue;
    auto const& other = group.frame->code->operations[group.pc];
    if (other.run != op.run || other.flags != op.flags) continue;
    partners.push_back(&group);
    remaining &= ~group.lanes;
  }
  if (remaining != 0) return false;
  scratch space;
  std::vector<party> parties{{&op, running_.frame, arrived}};
  for (auto* const partner : partners)
    parties.push_back(
        {&partner->frame->code->operations[partner->pc], partner->frame, partner->lanes});
  lane_mask all = 0;
  for (auto const& party : parties) {
    gather(space, party);
    all |= party.lanes;
  }
  if ((members_in(space, op, all) & live_ & ~all) != 0) return false;
  auto const combined = moved(op);
  registers_ = constants_ = space.registers;
  predicates_ = space.predicates;
  op.run(*this, combined, all);
  enter(running_.frame);
  for (auto const& party : parties) distribute(space, party);
  for (auto* const partner : partners) {
    ++partner->pc;
    partner->state = group_state::ready;
  }
  return true;
}

}  // namespace fatlink::interpreter
