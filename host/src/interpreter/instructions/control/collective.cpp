// SPDX-License-Identifier: Apache-2.0
// Operations that the threads of a warp execute together: shfl, vote, match, redux, activemask,
// elect. Source: PTX ISA 9.0, "shfl.sync", "shfl (deprecated)", "vote.sync", "vote (deprecated)",
// "match.sync", "redux.sync", "activemask", "elect.sync".
#include "interpreter/instructions/control/collective.hpp"

#include <array>

#include "interpreter/instructions/arithmetic/integer_ops.hpp"

namespace fatlink::interpreter {

bool meet(warp& w, operation const& o, operand_offset members, lane_mask mask)
{
  auto const* const masks = w.at(members);
  lane_mask expected = 0;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = first_lane(remaining);
    auto const members_of_lane = load<lane_mask>(masks, lane);
    if ((members_of_lane >> lane & 1) == 0)
      w.fail(error_kind::deadlock, "the member mask does not contain the thread itself", lane, o);
    expected |= members_of_lane;
  }
  return w.converged(expected, mask, o);
}

namespace {

/// Calls use(lane, members) for each lane of `mask`; `members` are the lanes of its member mask.
template <typename Use>
void each_member(warp& w, operand_offset members, lane_mask mask, Use const& use)
{
  auto const* const masks = w.at(members);
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = first_lane(remaining);
    use(lane, load<lane_mask>(masks, lane) & mask);
  }
}

/// The lanes of `mask`, those that execute the operation.
void read_active_mask(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  each_lane(mask, [=](unsigned i) { store(d, i, mask); });
}

/// The member mask of a collective with `.sync`, operand `index`; without, which PTX has up to 6.3,
/// the threads that execute it. @throws code_error (invalid) another number of operands, or newer
/// PTX without `.sync`.
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

/// The results d|p; p is an unused predicate if it is missing.
struct result_pair {
  operand_offset value;
  std::uint32_t predicate;
};

result_pair take_results(decoding& d, type type)
{
  auto const& results = d.operand(0);
  syntax::operand const sink;
  auto const is_pair = results.kind == syntax::operand_kind::pair;
  return {d.destination(is_pair ? results.parts[0] : results, type),
          d.predicate_destination(is_pair ? results.parts[1] : sink)};
}

// shfl.

enum class shuffle_mode { up, down, bfly, idx };

struct shuffled {
  unsigned source;
  bool in_range;
};

template <shuffle_mode Mode>
shuffled shuffle_source(unsigned lane, std::uint32_t b, std::uint32_t c) noexcept
{
  auto const segment = c >> 8 & 31U;
  auto const clamp = c & 31U;
  auto const segment_begin = lane & segment;
  auto const limit = segment_begin | (clamp & ~segment);
  auto const distance = b & 31U;
  if constexpr (Mode == shuffle_mode::up) {
    auto const in_range = static_cast<int>(lane - distance) >= static_cast<int>(limit);
    return {in_range ? lane - distance : lane, in_range};
  } else {
    auto const source = Mode == shuffle_mode::down   ? lane + distance
                        : Mode == shuffle_mode::bfly ? lane ^ distance
                                                     : segment_begin | (distance & ~segment);
    return {source <= limit ? source : lane, source <= limit};
  }
}

/// e: the member mask; immediate: the predicate for whether the source lane was in range.
template <shuffle_mode Mode>
void shfl(warp& w, operation const& o, lane_mask mask)
{
  if (!meet(w, o, o.e, mask)) return;
  auto const* const a = w.at(o.a);
  std::uint32_t values[k_lanes];
  std::memcpy(values, a, sizeof values);
  auto* const d = w.at(o.d);
  lane_mask in_range = 0;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = first_lane(remaining);
    auto const [source, is_valid] = shuffle_source<Mode>(lane, load<std::uint32_t>(w.at(o.b), lane),
                                                         load<std::uint32_t>(w.at(o.c), lane));
    store(d, lane, values[source & 31U]);
    if (is_valid) in_range |= 1U << lane;
  }
  w.set_predicate(static_cast<std::uint32_t>(o.immediate), in_range, mask);
}

handler take_shuffle(decoding& d)
{
  if (d.take("up")) return &shfl<shuffle_mode::up>;
  if (d.take("down")) return &shfl<shuffle_mode::down>;
  if (d.take("bfly")) return &shfl<shuffle_mode::bfly>;
  if (!d.take("idx")) d.fail_unsupported();
  return &shfl<shuffle_mode::idx>;
}

void decode_shfl(decoding& d)
{
  if (d.take_type() != type::b32) d.fail_unsupported();
  auto const members = take_members(d, 4);
  auto const run = take_shuffle(d);
  auto const a = d.source(1, type::b32);
  auto const b = d.source(2, type::b32);
  auto const c = d.source(3, type::b32);
  auto const result = take_results(d, type::b32);
  auto& o = d.emit(run);
  o.d = result.value;
  o.a = a;
  o.b = b;
  o.c = c;
  o.e = members;
  o.immediate = result.predicate;
  o.flags = flags_of({.source_bytes = 4,
                      .has_lane_operands = true,
                      .value_result = true,
                      .predicate_result = predicate_place::immediate},
                     0);
}

// vote, match, redux, activemask, elect.

enum class vote_mode : std::uint32_t { all, any, uni, ballot };

void vote(warp& w, operation const& o, lane_mask mask)
{
  if (!meet(w, o, o.e, mask)) return;
  auto const votes = w.predicate(o.a);
  auto const mode = static_cast<vote_mode>(o.flags & k_mode_mask);
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

/// Sets equal[i] to the lanes whose value is that of `lane`, for each of these lanes i.
template <typename T>
void find_equal(T const* values, unsigned lane, std::array<lane_mask, k_lanes>& equal)
{
  lane_mask lanes = 0;
  for (unsigned i = 0; i < k_lanes; ++i) lanes |= lane_mask{values[i] == values[lane]} << i;
  for (auto remaining = lanes; remaining != 0; remaining &= remaining - 1)
    equal[first_lane(remaining)] = lanes;
}

/// immediate: the predicate result of match.all.
template <typename T, bool All>
void match(warp& w, operation const& o, lane_mask mask)
{
  if (!meet(w, o, o.e, mask)) return;
  T values[k_lanes];
  std::memcpy(values, w.at(o.a), sizeof values);
  lane_mask agree = 0;
  std::array<lane_mask, k_lanes> equal = {};  // the lanes with the value of a lane; 0: not known
  each_member(w, o.e, mask, [&](unsigned lane, lane_mask members) {
    if (equal[lane] == 0) find_equal(values, lane, equal);
    auto const matching = equal[lane] & members;
    auto const is_equal = matching == members;
    if (is_equal) agree |= 1U << lane;
    store(w.at(o.d), lane, All && !is_equal ? lane_mask{0} : matching);
  });
  if (All) w.set_predicate(static_cast<std::uint32_t>(o.immediate), agree, mask);
}

template <typename T, typename Op>
void redux(warp& w, operation const& o, lane_mask mask)
{
  if (!meet(w, o, o.e, mask)) return;
  T values[k_lanes];
  std::memcpy(values, w.at(o.a), sizeof values);
  lane_mask reduced = 0;  // the lanes that `result` is of
  T result{};
  each_member(w, o.e, mask, [&](unsigned lane, lane_mask members) {
    if (members != reduced) {
      reduced = members;
      result = values[first_lane(members)];
      for (auto remaining = members & (members - 1); remaining != 0; remaining &= remaining - 1)
        result = Op{}(result, values[first_lane(remaining)]);
    }
    store(w.at(o.d), lane, result);
  });
}

/// Elects the lowest member.
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

vote_mode take_vote(decoding& d)
{
  if (d.take("all")) return vote_mode::all;
  if (d.take("any")) return vote_mode::any;
  if (d.take("uni")) return vote_mode::uni;
  if (!d.take("ballot")) d.fail_unsupported();
  return vote_mode::ballot;
}

void decode_vote(decoding& d)
{
  auto const type = d.take_type();
  auto const mode = take_vote(d);
  if (type != (mode == vote_mode::ballot ? type::b32 : type::pred)) d.fail_unsupported();
  auto const members = take_members(d, 2);
  auto const a = d.predicate(1);
  auto const result =
      type == type::pred ? d.predicate_destination(d.operand(0)) : d.destination(0, type);
  auto& o = d.emit(&vote);
  o.d = result;
  o.a = a;
  o.e = members;
  auto const is_ballot = mode == vote_mode::ballot;
  o.flags = flags_of({.predicate_source = true,
                      .value_result = is_ballot,
                      .predicate_result = is_ballot ? predicate_place::none : predicate_place::d},
                     static_cast<std::uint32_t>(mode));
}

void decode_match(decoding& d)
{
  auto const type = d.take_type();
  auto const is_all = d.take("all");
  if ((!is_all && !d.take("any")) || !d.take("sync")) d.fail_unsupported();
  if (type != type::b32 && type != type::b64) d.fail_unsupported();
  d.expect_count(3, 3);
  auto const a = d.source(1, type);
  auto const members = d.source(2, type::b32);
  auto const result = take_results(d, type::b32);
  auto& o = d.emit(type == type::b32
                       ? (is_all ? &match<std::uint32_t, true> : &match<std::uint32_t, false>)
                       : (is_all ? &match<std::uint64_t, true> : &match<std::uint64_t, false>));
  o.d = result.value;
  o.a = a;
  o.e = members;
  o.immediate = result.predicate;
  o.flags =
      flags_of({.source_bytes = size_of(type),
                .value_result = true,
                .predicate_result = is_all ? predicate_place::immediate : predicate_place::none},
               0);
}

template <typename Op>
handler reduction(type type)
{
  return type == type::s32 ? &redux<std::int32_t, Op> : &redux<std::uint32_t, Op>;
}

handler take_reduction(decoding& d, type type)
{
  if (d.take("add")) return reduction<op_add>(type);
  if (d.take("min")) return reduction<op_min>(type);
  if (d.take("max")) return reduction<op_max>(type);
  if (d.take("and")) return &redux<std::uint32_t, op_and>;
  if (d.take("or")) return &redux<std::uint32_t, op_or>;
  if (!d.take("xor")) d.fail_unsupported();
  return &redux<std::uint32_t, op_xor>;
}

void decode_redux(decoding& d)
{
  auto const type = d.take_type();
  if (size_of(type) != 4 || is_float(type) || !d.take("sync")) d.fail_unsupported();
  auto const run = take_reduction(d, type);
  d.expect_count(3, 3);
  auto const a = d.source(1, type);
  auto const members = d.source(2, type::b32);
  auto const result = d.destination(0, type);
  auto& o = d.emit(run);
  o.d = result;
  o.a = a;
  o.e = members;
  o.flags = flags_of({.source_bytes = 4, .value_result = true}, 0);
}

void decode_activemask(decoding& d)
{
  if (d.take_type() != type::b32) d.fail_unsupported();
  d.expect_count(1, 1);
  auto const result = d.destination(0, type::b32);
  d.emit(&read_active_mask).d = result;
}

void decode_elect(decoding& d)
{
  if (!d.take("sync")) d.fail_unsupported();
  d.expect_count(2, 2);
  auto const members = d.source(1, type::b32);
  auto const result = take_results(d, type::b32);
  auto& o = d.emit(&elect);
  o.d = result.value;
  o.e = members;
  o.immediate = result.predicate;
  o.flags = flags_of({.value_result = true, .predicate_result = predicate_place::immediate}, 0);
}

}  // namespace

void add_collective(decode_table& table)
{
  table["shfl"] = &decode_shfl;
  table["vote"] = &decode_vote;
  table["match"] = &decode_match;
  table["redux"] = &decode_redux;
  table["activemask"] = &decode_activemask;
  table["elect"] = &decode_elect;
}

}  // namespace fatlink::interpreter
