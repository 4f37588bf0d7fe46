// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/async/mbarrier_object.hpp"

#include <cstring>
#include <string>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/execution/block.hpp"

namespace fatlink::interpreter {
namespace {

constexpr unsigned k_expected_at = 20, k_bytes_at = 40, k_phase_at = 61, k_valid_at = 63;
constexpr std::uint64_t k_count_mask = mbarrier_state::k_max_count;
constexpr unsigned k_bytes_bits = k_phase_at - k_bytes_at;

}  // namespace

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
    warp_.fail(fault::address, "the mbarrier is not initialized (mbarrier.init)", lane_, op_);
  return state;
}

void mbarrier_object::fail(std::string const& reason) const
{
  warp_.fail(fault::deadlock, reason, lane_, op_);
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

}  // namespace fatlink::interpreter
