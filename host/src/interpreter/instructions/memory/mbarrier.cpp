// SPDX-License-Identifier: Apache-2.0
// mbarrier: the object and its instructions. Source: PTX ISA 9.0, "mbarrier".
#include "interpreter/instructions/memory/mbarrier.hpp"

#include <cstring>
#include <string>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/memory/access.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

constexpr unsigned k_expected_at = 20, k_bytes_at = 40, k_phase_at = 61, k_valid_at = 63;
constexpr std::uint64_t k_count_mask = mbarrier_state::k_max_count;
constexpr unsigned k_bytes_bits = k_phase_at - k_bytes_at;

std::uint64_t encode(mbarrier_state const& state) noexcept
{
  auto const bytes =
      static_cast<std::uint64_t>(state.bytes) & ((std::uint64_t{1} << k_bytes_bits) - 1);
  return state.pending | std::uint64_t{state.expected} << k_expected_at | bytes << k_bytes_at |
         std::uint64_t{state.phase & 3U} << k_phase_at |
         std::uint64_t{state.is_valid} << k_valid_at;
}

mbarrier_state decode_mbarrier(std::uint64_t word) noexcept
{
  constexpr unsigned k_above = 64 - k_phase_at;  // shifted out, so that the sign is extended
  return {.pending = static_cast<std::uint32_t>(word & k_count_mask),
          .expected = static_cast<std::uint32_t>(word >> k_expected_at & k_count_mask),
          .bytes = static_cast<std::int64_t>(word << k_above) >> (64 - k_bytes_bits),
          .phase = static_cast<std::uint32_t>(word >> k_phase_at & 3U),
          .is_valid = word >> k_valid_at != 0};
}

}  // namespace

mbarrier_object::mbarrier_object(warp& warp, operation const& op, unsigned lane,
                                 std::uint64_t address)
    : warp_(warp),
      op_(op),
      lane_(lane),
      place_(warp.resolve_shared(address - k_shared_window, sizeof(std::uint64_t), lane, op, true))
{
  warp.release_accesses();  // as by every arrival
}

std::uint64_t mbarrier_object::word() const noexcept
{
  std::uint64_t word = 0;
  std::memcpy(&word, place_, sizeof word);
  return word;
}

mbarrier_state mbarrier_object::state() const
{
  auto const state = decode_mbarrier(word());
  if (!state.is_valid)
    warp_.fail(error_kind::address, "the mbarrier is not initialized (mbarrier.init)", lane_, op_);
  return state;
}

void mbarrier_object::fail(std::string const& reason) const
{
  warp_.fail(error_kind::deadlock, reason, lane_, op_);
}

void mbarrier_object::write(mbarrier_state state)
{
  if (state.bytes > mbarrier_state::k_max_bytes || state.bytes < -mbarrier_state::k_max_bytes)
    fail("the mbarrier waits for more than " + std::to_string(mbarrier_state::k_max_bytes) +
         " bytes");
  if (state.is_valid && state.pending == 0 && state.bytes == 0) {
    ++state.phase;
    state.pending = state.expected;
  }
  auto const word = encode(state);
  std::memcpy(place_, &word, sizeof word);
}

void mbarrier_object::initialize(std::uint32_t count)
{
  if (count == 0 || count > mbarrier_state::k_max_count)
    fail("the count " + std::to_string(count) + " of arrivals is not from 1 to " +
         std::to_string(mbarrier_state::k_max_count));
  write({.pending = count, .expected = count, .bytes = 0, .phase = 0, .is_valid = true});
}

void mbarrier_object::invalidate()
{
  (void)state();
  write({});
}

void mbarrier_object::expect_bytes(std::uint32_t count)
{
  auto changed = state();
  changed.bytes += count;
  write(changed);
}

void mbarrier_object::complete_bytes(std::uint64_t count)
{
  auto changed = state();
  changed.bytes -= static_cast<std::int64_t>(count);
  write(changed);
}

std::uint64_t mbarrier_object::arrive(std::uint32_t count, bool may_complete)
{
  auto const before = word();
  auto changed = state();
  if (count == 0 || count > changed.pending)
    fail("arrives " + std::to_string(count) + " times at an mbarrier that waits for " +
         std::to_string(changed.pending) + " arrivals");
  changed.pending -= count;
  if (!may_complete && changed.pending == 0 && changed.bytes == 0)
    fail(".noComplete, but the arrival completes the phase");
  write(changed);
  return before;
}

void mbarrier_object::drop(std::uint32_t count)
{
  auto changed = state();
  if (count > changed.expected)
    fail("drops " + std::to_string(count) + " of the " + std::to_string(changed.expected) +
         " arrivals that the mbarrier expects");
  changed.expected -= count;
  write(changed);
}

void mbarrier_object::add_pending()
{
  auto changed = state();
  if (changed.pending == mbarrier_state::k_max_count) fail("too many arrivals are pending");
  ++changed.pending;
  write(changed);
}

namespace {

/// How arrive differs, in operation::flags.
enum arrive_flags : std::uint32_t {
  k_drops = 1,
  k_not_complete = 2,
  k_has_bytes = 4,  ///< c: bytes that are expected
};

/// Calls use(mbarrier, lane) for each lane of `mask`. a: the address.
template <typename Use>
void each_mbarrier(warp& w, operation const& o, lane_mask mask, Use const& use)
{
  auto const* const a = w.at(o.a);
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    mbarrier_object mbarrier(w, o, lane, load<std::uint64_t>(a, lane));
    use(mbarrier, lane);
  }
}

void initialize(warp& w, operation const& o, lane_mask mask)
{
  auto const* const b = w.at(o.b);
  each_mbarrier(w, o, mask, [=](mbarrier_object& mbarrier, unsigned lane) {
    mbarrier.initialize(load<std::uint32_t>(b, lane));
  });
}

void invalidate(warp& w, operation const& o, lane_mask mask)
{
  each_mbarrier(w, o, mask, [](mbarrier_object& mbarrier, unsigned) { mbarrier.invalidate(); });
}

void arrive_at_mbarrier(warp& w, operation const& o, lane_mask mask)
{
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  auto* const d = w.at(o.d);
  each_mbarrier(w, o, mask, [&](mbarrier_object& mbarrier, unsigned lane) {
    auto const count = load<std::uint32_t>(b, lane);
    if ((o.flags & k_has_bytes) != 0) mbarrier.expect_bytes(load<std::uint32_t>(c, lane));
    if ((o.flags & k_drops) != 0) mbarrier.drop(count);
    store(d, lane, mbarrier.arrive(count, (o.flags & k_not_complete) == 0));
  });
}

/// b: a number of bytes.
template <bool Expects>
void count_bytes(warp& w, operation const& o, lane_mask mask)
{
  auto const* const b = w.at(o.b);
  each_mbarrier(w, o, mask, [=](mbarrier_object& mbarrier, unsigned lane) {
    auto const count = load<std::uint32_t>(b, lane);
    if constexpr (Expects)
      mbarrier.expect_bytes(count);
    else
      mbarrier.complete_bytes(count);
  });
}

/// b: the state of an arrival, or a parity; d: a predicate. The phase of the state is the current
/// one or the one before; so is that of the parity.
template <bool Parity, bool Suspends>
void wait(warp& w, operation const& o, lane_mask mask)
{
  auto const* const b = w.at(o.b);
  lane_mask complete = 0;
  poll_digest digest;
  each_mbarrier(w, o, mask, [&](mbarrier_object const& mbarrier, unsigned lane) {
    auto const phase = mbarrier.state().phase;
    auto const is_complete = Parity ? (phase & 1U) != (load<std::uint32_t>(b, lane) & 1U)
                                    : phase != decode_mbarrier(load<std::uint64_t>(b, lane)).phase;
    if (is_complete) complete |= 1U << lane;
    if (!is_complete) digest.add(mbarrier.place(), mbarrier.word());
  });
  w.set_predicate(o.d, complete, mask);
  if (complete != 0) w.acquire_accesses();
  if (complete == mask) return;
  w.note_poll(o, digest);
  if (Suspends) w.yield_turn();
}

void pending_count(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask,
            [=](unsigned i) { store(d, i, decode_mbarrier(load<std::uint64_t>(a, i)).pending); });
}

void decode_init(decoding& d)
{
  auto const space = take_space(d);
  d.expect_count(2, 2);
  auto const count = d.source(1, type::u32);
  auto const address = emit_generic_address(d, d.operand(0), space);
  auto& o = d.emit(&initialize);
  o.a = address;
  o.b = count;
}

void decode_invalidate(decoding& d)
{
  auto const space = take_space(d);
  d.expect_count(1, 1);
  auto const address = emit_generic_address(d, d.operand(0), space);
  d.emit(&invalidate).a = address;
}

/// arrive and arrive_drop: state, [address], the bytes of .expect_tx or the count.
void decode_arrive(decoding& d, bool drops)
{
  auto const has_bytes = d.take("expect_tx");
  auto const is_not_complete = d.take("noComplete");
  (void)take_order(d);
  take_scope(d);
  auto const space = take_space(d);
  d.expect_count(has_bytes || is_not_complete ? 3 : 2, 3);
  auto const one = d.constant(1, 4);
  auto const number = d.count() == 3 ? d.source(2, type::u32) : one;
  auto const address = emit_generic_address(d, d.operand(1), space);
  auto const result = d.destination(0, type::b64);
  auto& o = d.emit(&arrive_at_mbarrier);
  o.d = result;
  o.a = address;
  o.b = has_bytes ? one : number;
  o.c = number;
  o.flags = (drops ? k_drops : 0U) | (is_not_complete ? k_not_complete : 0U) |
            (has_bytes ? k_has_bytes : 0U);
}

void decode_byte_count(decoding& d, bool expects)
{
  (void)take_order(d);
  take_scope(d);
  auto const space = take_space(d);
  d.expect_count(2, 2);
  auto const count = d.source(1, type::u32);
  auto const address = emit_generic_address(d, d.operand(0), space);
  auto& o = d.emit(expects ? &count_bytes<true> : &count_bytes<false>);
  o.a = address;
  o.b = count;
}

void decode_wait(decoding& d, bool suspends)
{
  auto const is_parity = d.take("parity");
  (void)take_order(d);
  take_scope(d);
  auto const space = take_space(d);
  d.expect_count(3, suspends ? 4 : 3);
  if (d.count() == 4) (void)d.source(3, type::u32);  // how long it suspends
  auto const phase = d.source(2, is_parity ? type::u32 : type::b64);
  auto const address = emit_generic_address(d, d.operand(1), space);
  auto const result = d.predicate_destination(d.operand(0));
  auto& o = d.emit(is_parity ? (suspends ? &wait<true, true> : &wait<true, false>)
                             : (suspends ? &wait<false, true> : &wait<false, false>));
  o.d = result;
  o.a = address;
  o.b = phase;
}

void decode_pending_count(decoding& d)
{
  d.expect_count(2, 2);
  auto const a = d.source(1, type::b64);
  auto const result = d.destination(0, type::u32);
  auto& o = d.emit(&pending_count);
  o.d = result;
  o.a = a;
}

void decode_mbarrier_instruction(decoding& d)
{
  if (d.take_type() != type::b64) d.fail_unsupported();
  if (d.take("init")) return decode_init(d);
  if (d.take("inval")) return decode_invalidate(d);
  if (d.take("arrive")) return decode_arrive(d, false);
  if (d.take("arrive_drop")) return decode_arrive(d, true);
  if (d.take("expect_tx")) return decode_byte_count(d, true);
  if (d.take("complete_tx")) return decode_byte_count(d, false);
  if (d.take("test_wait")) return decode_wait(d, false);
  if (d.take("try_wait")) return decode_wait(d, true);
  if (d.take("pending_count")) return decode_pending_count(d);
  d.fail_unsupported();
}

}  // namespace

void add_mbarrier(decode_table& table)
{
  table["mbarrier"] = &decode_mbarrier_instruction;
}

}  // namespace fatlink::interpreter
