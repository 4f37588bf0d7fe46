// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/races.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "interpreter/execution/block.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {
namespace {

// clang-format off
// <access> ::= <clock> <thread>     64 bits; 0: none
// <clock>  ::= 28 bits, the block's clock at the access
// <thread> ::= 36 bits, the number of the thread in the launch plus 1
// clang-format on
constexpr unsigned k_thread_bits = 36;
static_assert(k_max_checked_threads == std::uint64_t{1} << k_thread_bits);
constexpr std::uint64_t k_thread_mask = (std::uint64_t{1} << k_thread_bits) - 1;
constexpr std::uint64_t k_clock_mask = (std::uint64_t{1} << (64 - k_thread_bits)) - 1;

std::uint64_t thread_of(warp const& writer, unsigned lane) noexcept
{
  return writer.block().linear_index() * writer.launch().block.count() +
         std::uint64_t{writer.index()} * k_lanes + lane;
}

std::string name_of(std::uint64_t thread, warp const& warp)
{
  auto const threads = warp.launch().block.count();
  return "thread " + std::to_string(thread % threads) + " of block " +
         std::to_string(thread / threads);
}

/// Records that a lane accesses memory now. Returns the number of its thread.
std::uint64_t count_access(lane_access const& access) noexcept
{
  ++access.accessor->block().accesses;
  return thread_of(*access.accessor, access.lane);
}

std::uint64_t entry_of(warp const& accessor, std::uint64_t thread) noexcept
{
  return (accessor.block().clock & k_clock_mask) << k_thread_bits | (thread + 1);
}

/// Other threads may write the byte.
std::byte load_byte(std::byte const& byte) noexcept
{
  return std::atomic_ref(const_cast<std::byte&>(byte)).load(std::memory_order_relaxed);
}

[[noreturn]] void fail_race(lane_access const& access, char const* verb, std::uint64_t earlier,
                            char const* earlier_verb)
{
  auto const& accessor = *access.accessor;
  accessor.fail(error_kind::race,
                std::string(verb) + " what " + name_of((earlier & k_thread_mask) - 1, accessor) +
                    " " + earlier_verb + ", without synchronisation",
                access.lane, *access.op);
}

}  // namespace

byte_histories::byte_histories(std::uint64_t bytes)
    : bytes_(static_cast<byte_history*>(std::calloc(bytes, sizeof(byte_history))))
{
  if (!bytes_ && bytes != 0) throw std::bad_alloc();
}

byte_history* race_map::history_of(region const& region, std::uint64_t offset)
{
  std::lock_guard const lock(mutex_);
  auto& bytes = maps_[region.base];
  if (bytes.data() == nullptr) bytes = byte_histories(region.size);
  return bytes.data() + offset;
}

void race_map::record_read(byte_history* bytes, lane_access const& access)
{
  auto const thread = count_access(access);
  auto const entry = entry_of(*access.accessor, thread);
  for (unsigned i = 0; i < access.size; ++i) {
    auto const writer = bytes[i].writer.load(std::memory_order_relaxed);
    if (writer != 0 && !in_order(writer, *access.accessor, thread))
      fail_race(access, "reads", writer, "wrote");
    auto const reader = bytes[i].reader.load(std::memory_order_relaxed);
    if (reader == 0 || in_order(reader, *access.accessor, thread))
      bytes[i].reader.store(entry, std::memory_order_relaxed);
  }
}

void race_map::record_write(byte_history* bytes, lane_access const& access, std::byte const* before,
                            std::byte const* after)
{
  auto const thread = count_access(access);
  auto const entry = entry_of(*access.accessor, thread);
  for (unsigned i = 0; i < access.size; ++i) {
    auto const is_repeated = after != nullptr && load_byte(before[i]) == after[i];
    if (is_repeated && bytes[i].writer.load(std::memory_order_relaxed) != 0) continue;
    auto const reader = bytes[i].reader.exchange(0, std::memory_order_relaxed);
    if (reader != 0 && !in_order(reader, *access.accessor, thread))
      fail_race(access, "writes", reader, "read");
    auto const writer = bytes[i].writer.exchange(entry, std::memory_order_relaxed);
    if (writer != 0 && !in_order(writer, *access.accessor, thread))
      fail_race(access, "writes", writer, "wrote");
  }
}

void race_map::forget(region const& region, std::uint64_t offset, std::uint64_t size)
{
  auto* const bytes = history_of(region, offset);
  for (std::uint64_t i = 0; i < size; ++i) {
    bytes[i].writer.store(0, std::memory_order_relaxed);
    bytes[i].reader.store(0, std::memory_order_relaxed);
  }
}

void race_map::release(warp& warp, sync_scope scope)
{
  auto& block = warp.block();
  auto& released = scope == sync_scope::block ? warp.released_to_block : warp.released_to_device;
  if (released == block.accesses) return;
  released = block.accesses;
  std::lock_guard const lock(mutex_);
  releases_[block.linear_index()].push_back({block.clock++, ++ticks_, warp.index(), scope});
}

void race_map::acquire(warp& warp, sync_scope scope) noexcept
{
  warp.acquired = ticks_;
  if (scope == sync_scope::device) warp.block().acquired = warp.acquired;
}

bool race_map::in_order(std::uint64_t earlier, warp const& warp, std::uint64_t thread)
{
  auto const other = (earlier & k_thread_mask) - 1;
  if (other == thread) return true;
  auto const threads = warp.launch().block.count();
  auto const clock = earlier >> k_thread_bits;
  auto const& block = warp.block();
  if (other / threads != block.linear_index())
    return was_released(other / threads, std::nullopt, clock, block.acquired);
  if (clock < (block.last_barrier & k_clock_mask)) return true;
  auto const other_warp = static_cast<unsigned>(other % threads / k_lanes);
  if (other_warp == warp.index() && clock < (warp.last_sync & k_clock_mask)) return true;
  return was_released(block.linear_index(), other_warp, clock, warp.acquired);
}

/// Whether a release of the block to the device, or of its `warp`, follows `clock` and precedes
/// `tick`.
bool race_map::was_released(std::uint64_t block, std::optional<unsigned> warp, std::uint64_t clock,
                            std::uint64_t tick)
{
  if (tick == 0) return false;
  std::lock_guard const lock(mutex_);
  auto const& points = releases_[block];
  auto point = std::partition_point(points.begin(), points.end(), [clock](auto const& p) {
    return (p.clock & k_clock_mask) < clock;
  });
  for (; point != points.end() && point->tick <= tick; ++point)
    if (warp ? point->warp == *warp : point->scope == sync_scope::device) return true;
  return false;
}

}  // namespace fatlink::interpreter
