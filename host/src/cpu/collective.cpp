// SPDX-License-Identifier: Apache-2.0
// Source: PTX ISA 9.0, "Parallel Synchronization and Communication Instructions".
#include "cpu/collective.hpp"

#include <algorithm>
#include <bit>

#include "cpu/decoder.hpp"
#include "cpu/lanes.hpp"

namespace fatlink::cpu {
namespace {

unsigned first_lane(lane_mask mask) noexcept
{
  return static_cast<unsigned>(std::countr_zero(mask));
}

// ---- barriers of the block

enum class barrier_action : std::uint32_t { sync, arrive, population, conjunction, disjunction };

/// a: the barrier, b: how many threads (0: all), c: the predicate of bar.red.
void bar(warp& w, operation const& o, lane_mask mask)
{
  auto const lane = first_lane(mask);
  auto const number = load<std::uint32_t>(w.at(o.a), lane);
  if (number >= k_barriers)
    w.fail(fault::deadlock, "barrier " + std::to_string(number) + " of 0 to 15", lane, o);
  auto& at = w.block().barrier_at(number);
  auto const count = static_cast<std::uint32_t>(std::popcount(mask));
  at.arrived += count;
  at.expected = load<std::uint32_t>(w.at(o.b), lane);
  at.voters += count;
  at.population += static_cast<std::uint32_t>(std::popcount(mask & w.predicate(o.c)));
  auto const action = static_cast<barrier_action>(o.flags);
  if (action != barrier_action::arrive) w.wait_at(number, o, mask, action != barrier_action::sync);
}

// ---- the member mask of warp-wide instructions

/// Makes every running lane meet those it names. False: the group waits.
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

void bar_warp(warp& w, operation const& o, lane_mask mask)
{
  if (meet(w, o, o.a, mask)) w.note_warp_sync();
}

// ---- shuffles

enum class shuffle_mode { up, down, bfly, idx };

struct shuffled {
  unsigned from;
  bool in_range;
};

template <shuffle_mode Mode>
shuffled shuffle_source(unsigned lane, std::uint32_t b, std::uint32_t c) noexcept
{
  auto const segment = c >> 8 & 31U;
  auto const clamp = c & 31U;
  auto const first = lane & segment;
  auto const last = first | (clamp & ~segment);
  auto const by = b & 31U;
  if constexpr (Mode == shuffle_mode::up) {
    auto const in = static_cast<int>(lane - by) >= static_cast<int>(last);
    return {in ? lane - by : lane, in};
  } else {
    auto const j = Mode == shuffle_mode::down   ? lane + by
                   : Mode == shuffle_mode::bfly ? lane ^ by
                                                : first | (by & ~segment);
    return {j <= last ? j : lane, j <= last};
  }
}

/// e: the member mask; immediate: the predicate that says whether the source lane was in range.
template <shuffle_mode Mode>
void shfl(warp& w, operation const& o, lane_mask mask)
{
  if (!meet(w, o, o.e, mask)) return;
  auto const* const a = w.at(o.a);
  std::uint32_t values[k_lanes];
  std::memcpy(values, a, sizeof values);
  auto* const d = w.at(o.d);
  lane_mask in_range = 0;
  for (auto left = mask; left != 0; left &= left - 1) {
    auto const lane = first_lane(left);
    auto const [from, in] = shuffle_source<Mode>(lane, load<std::uint32_t>(w.at(o.b), lane),
                                                 load<std::uint32_t>(w.at(o.c), lane));
    store(d, lane, values[from & 31U]);
    if (in) in_range |= 1U << lane;
  }
  w.set_predicate(static_cast<std::uint32_t>(o.immediate), in_range, mask);
}

// ---- votes

enum class vote_mode : std::uint32_t { all, any, uni, ballot };

/// Calls use(lane, members): the lanes named by it that take part.
template <typename Use>
void each_member(warp& w, operand_offset members, lane_mask mask, Use const& use)
{
  auto const* const named = w.at(members);
  for (auto left = mask; left != 0; left &= left - 1) {
    auto const lane = first_lane(left);
    use(lane, load<lane_mask>(named, lane) & mask);
  }
}

void vote(warp& w, operation const& o, lane_mask mask)
{
  if (!meet(w, o, o.e, mask)) return;
  auto const votes = w.predicate(o.a);
  auto const mode = static_cast<vote_mode>(o.flags);
  lane_mask result = 0;
  each_member(w, o.e, mask, [&](unsigned lane, lane_mask members) {
    auto const yes = votes & members;
    if (mode == vote_mode::ballot) return store(w.at(o.d), lane, yes);
    auto const holds = mode == vote_mode::all   ? yes == members
                       : mode == vote_mode::any ? yes != 0
                                                : yes == members || yes == 0;
    if (holds) result |= 1U << lane;
  });
  if (mode != vote_mode::ballot) w.set_predicate(o.d, result, mask);
}

// ---- matches and reductions

/// immediate: the predicate of match.all.
template <typename T, bool All>
void match(warp& w, operation const& o, lane_mask mask)
{
  if (!meet(w, o, o.e, mask)) return;
  T values[k_lanes];
  std::memcpy(values, w.at(o.a), sizeof values);
  lane_mask agree = 0;
  each_member(w, o.e, mask, [&](unsigned lane, lane_mask members) {
    lane_mask same = 0;
    for (auto left = members; left != 0; left &= left - 1)
      if (values[first_lane(left)] == values[lane]) same |= 1U << first_lane(left);
    auto const all = same == members;
    if (all) agree |= 1U << lane;
    store(w.at(o.d), lane, All && !all ? lane_mask{0} : same);
  });
  if (All) w.set_predicate(static_cast<std::uint32_t>(o.immediate), agree, mask);
}

struct op_add {
  template <typename T>
  T operator()(T a, T b) const
  {
    return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
};
struct op_min {
  template <typename T>
  T operator()(T a, T b) const
  {
    return std::min(a, b);
  }
};
struct op_max {
  template <typename T>
  T operator()(T a, T b) const
  {
    return std::max(a, b);
  }
};
struct op_and {
  template <typename T>
  T operator()(T a, T b) const
  {
    return a & b;
  }
};
struct op_or {
  template <typename T>
  T operator()(T a, T b) const
  {
    return a | b;
  }
};
struct op_xor {
  template <typename T>
  T operator()(T a, T b) const
  {
    return a ^ b;
  }
};

template <typename T, typename Op>
void redux(warp& w, operation const& o, lane_mask mask)
{
  if (!meet(w, o, o.e, mask)) return;
  T values[k_lanes];
  std::memcpy(values, w.at(o.a), sizeof values);
  each_member(w, o.e, mask, [&](unsigned lane, lane_mask members) {
    auto result = values[first_lane(members)];
    for (auto left = members & (members - 1); left != 0; left &= left - 1)
      result = Op{}(result, values[first_lane(left)]);
    store(w.at(o.d), lane, result);
  });
}

void activemask(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  each_lane(mask, [=](unsigned i) { store(d, i, mask); });
}

/// The lowest member is elected.
void elect(warp& w, operation const& o, lane_mask mask)
{
  if (!meet(w, o, o.e, mask)) return;
  lane_mask leaders = 0;
  each_member(w, o.e, mask, [&](unsigned lane, lane_mask members) {
    store(w.at(o.d), lane, std::uint32_t{first_lane(members)});
    if (lane == first_lane(members)) leaders |= 1U << lane;
  });
  w.set_predicate(static_cast<std::uint32_t>(o.immediate), leaders, mask);
}

// ---- decoding

void emit_barrier(decoding& d, barrier_action action, operand_offset to, std::size_t first,
                  bool has_predicate)
{
  auto const last = d.count() - (has_predicate ? 1 : 0);
  if (last <= first || last > first + 2) d.refuse("too many or too few operands");
  auto const number = d.source(first, type::u32);
  auto const threads = last == first + 2 ? d.source(first + 1, type::u32) : d.constant(0, 4);
  auto const vote = has_predicate ? d.predicate(d.count() - 1) : k_false;
  auto& o = d.emit(&bar);
  o.d = to;
  o.a = number;
  o.b = threads;
  o.c = vote;
  o.flags = static_cast<std::uint32_t>(action);
}

void decode_reduction(decoding& d)
{
  if (d.take("popc")) {
    auto const as = d.take_type();
    if (as != type::u32) d.refuse();
    return emit_barrier(d, barrier_action::population, d.destination(0, as), 1, true);
  }
  auto const all = d.take("and");
  if (!all && !d.take("or")) d.refuse();
  if (d.take_type() != type::pred) d.refuse();
  emit_barrier(d, all ? barrier_action::conjunction : barrier_action::disjunction,
               d.predicate_destination(d.operand(0)), 1, true);
}

/// bar and barrier; `.aligned` promises what is checked anyway.
void decode_bar(decoding& d)
{
  (void)d.take("cta");
  (void)d.take("aligned");
  if (d.take("warp")) {
    if (!d.take("sync")) d.refuse();
    d.expect_count(1, 1);
    auto const members = d.source(0, type::b32);
    d.emit(&bar_warp).a = members;
    return;
  }
  if (d.take("red")) return decode_reduction(d);
  if (d.take("arrive")) return emit_barrier(d, barrier_action::arrive, k_no_operand, 0, false);
  if (!d.take("sync")) d.refuse();
  emit_barrier(d, barrier_action::sync, k_no_operand, 0, false);
}

/// d or d|p; the second is for nobody where it is missing.
struct result_pair {
  operand_offset value;
  std::uint32_t predicate;
};

result_pair take_results(decoding& d, type as)
{
  auto const& to = d.operand(0);
  syntax::operand const nobody;
  auto const two = to.kind == syntax::operand_kind::pair;
  return {d.destination(two ? to.parts[0] : to, as),
          d.predicate_destination(two ? to.parts[1] : nobody)};
}

handler take_shuffle(decoding& d)
{
  if (d.take("up")) return &shfl<shuffle_mode::up>;
  if (d.take("down")) return &shfl<shuffle_mode::down>;
  if (d.take("bfly")) return &shfl<shuffle_mode::bfly>;
  if (!d.take("idx")) d.refuse();
  return &shfl<shuffle_mode::idx>;
}

void decode_shfl(decoding& d)
{
  if (d.take_type() != type::b32 || !d.take("sync")) d.refuse();
  auto const run = take_shuffle(d);
  d.expect_count(5, 5);
  auto const a = d.source(1, type::b32);
  auto const b = d.source(2, type::b32);
  auto const c = d.source(3, type::b32);
  auto const members = d.source(4, type::b32);
  auto const to = take_results(d, type::b32);
  auto& o = d.emit(run);
  o.d = to.value;
  o.a = a;
  o.b = b;
  o.c = c;
  o.e = members;
  o.immediate = to.predicate;
}

vote_mode take_vote(decoding& d)
{
  if (d.take("all")) return vote_mode::all;
  if (d.take("any")) return vote_mode::any;
  if (d.take("uni")) return vote_mode::uni;
  if (!d.take("ballot")) d.refuse();
  return vote_mode::ballot;
}

void decode_vote(decoding& d)
{
  auto const as = d.take_type();
  auto const mode = take_vote(d);
  if (!d.take("sync") || as != (mode == vote_mode::ballot ? type::b32 : type::pred)) d.refuse();
  d.expect_count(3, 3);
  auto const a = d.predicate(1);
  auto const members = d.source(2, type::b32);
  auto const to = as == type::pred ? d.predicate_destination(d.operand(0)) : d.destination(0, as);
  auto& o = d.emit(&vote);
  o.d = to;
  o.a = a;
  o.e = members;
  o.flags = static_cast<std::uint32_t>(mode);
}

void decode_match(decoding& d)
{
  auto const as = d.take_type();
  auto const all = d.take("all");
  if ((!all && !d.take("any")) || !d.take("sync")) d.refuse();
  if (as != type::b32 && as != type::b64) d.refuse();
  d.expect_count(3, 3);
  auto const a = d.source(1, as);
  auto const members = d.source(2, type::b32);
  auto const to = take_results(d, type::b32);
  auto& o =
      d.emit(as == type::b32 ? (all ? &match<std::uint32_t, true> : &match<std::uint32_t, false>)
                             : (all ? &match<std::uint64_t, true> : &match<std::uint64_t, false>));
  o.d = to.value;
  o.a = a;
  o.e = members;
  o.immediate = to.predicate;
}

template <typename Op>
handler reduction(type as)
{
  return as == type::s32 ? &redux<std::int32_t, Op> : &redux<std::uint32_t, Op>;
}

handler take_reduction(decoding& d, type as)
{
  if (d.take("add")) return reduction<op_add>(as);
  if (d.take("min")) return reduction<op_min>(as);
  if (d.take("max")) return reduction<op_max>(as);
  if (d.take("and")) return &redux<std::uint32_t, op_and>;
  if (d.take("or")) return &redux<std::uint32_t, op_or>;
  if (!d.take("xor")) d.refuse();
  return &redux<std::uint32_t, op_xor>;
}

void decode_redux(decoding& d)
{
  auto const as = d.take_type();
  if (size_of(as) != 4 || is_float(as) || !d.take("sync")) d.refuse();
  auto const run = take_reduction(d, as);
  d.expect_count(3, 3);
  auto const a = d.source(1, as);
  auto const members = d.source(2, type::b32);
  auto const to = d.destination(0, as);
  auto& o = d.emit(run);
  o.d = to;
  o.a = a;
  o.e = members;
}

void decode_activemask(decoding& d)
{
  if (d.take_type() != type::b32) d.refuse();
  d.expect_count(1, 1);
  auto const to = d.destination(0, type::b32);
  d.emit(&activemask).d = to;
}

void decode_elect(decoding& d)
{
  if (!d.take("sync")) d.refuse();
  d.expect_count(2, 2);
  auto const members = d.source(1, type::b32);
  auto const to = take_results(d, type::b32);
  auto& o = d.emit(&elect);
  o.d = to.value;
  o.e = members;
  o.immediate = to.predicate;
}

}  // namespace

void write_barrier_result(group const& released, barrier const& done) noexcept
{
  auto const& o = *released.barrier_result;
  auto& in = *released.in;
  auto const action = static_cast<barrier_action>(o.flags);
  if (action == barrier_action::population) {
    auto* const d = reinterpret_cast<std::byte*>(in.registers.data()) + o.d;
    each_lane(released.lanes, [=](unsigned i) { store(d, i, done.population); });
    return;
  }
  auto const holds =
      action == barrier_action::conjunction ? done.population == done.voters : done.population != 0;
  auto& to = in.predicates[o.d >> 1];
  to = (to & ~released.lanes) | (holds ? released.lanes : 0);
}

void add_collective(decode_table& to)
{
  to["bar"] = &decode_bar;
  to["barrier"] = &decode_bar;
  to["shfl"] = &decode_shfl;
  to["vote"] = &decode_vote;
  to["match"] = &decode_match;
  to["redux"] = &decode_redux;
  to["activemask"] = &decode_activemask;
  to["elect"] = &decode_elect;
}

}  // namespace fatlink::cpu
