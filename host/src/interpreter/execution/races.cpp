// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/races.hpp"

#include <algorithm>
#include <cstddef>

#include "interpreter/execution/block.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {
namespace {

// clang-format off
// <writer> ::= <clock> <thread>     64 bits; 0: no writer
// <clock>  ::= 32 bits, the block's clock at the write
// <thread> ::= 32 bits, the number of the thread in the launch plus 1
// clang-format on
constexpr unsigned k_thread_bits = 32;
constexpr std::uint64_t k_thread_mask = (std::uint64_t{1} << k_thread_bits) - 1;
constexpr std::uint64_t k_clock_mask = (std::uint64_t{1} << (64 - k_thread_bits)) - 1;

std::uint64_t thread_of(warp const& writer, unsigned lane) noexcept
{
  return writer.block().linear_index() * writer.launch().block.count() +
         std::uint64_t{writer.index()} * k_lanes + lane;
}

constexpr std::size_t k_max_releases = 64;  // that are remembered of a thread or a block

std::string name_of(std::uint64_t thread, warp const& warp)
{
  auto const threads = warp.launch().block.count();
  return "thread " + std::to_string(thread % threads) + " of block " +
         std::to_string(thread / threads);
}

}  // namespace

void race_map::add_release(history& history, std::uint64_t clock, std::uint64_t time)
{
  if (!history.releases.empty() && history.releases.back().clock == clock) return;
  history.releases.push_back({clock, time});
  if (history.releases.size() > k_max_releases) history.releases.pop_front();
}

/// What a thread of the block acquired before the last barrier, all its threads have acquired.
void race_map::settle(history& history, warp const& warp)
{
  if (history.recent_clock >= warp.block().last_barrier) return;
  history.acquired = std::max(history.acquired, history.recent);
  history.recent = 0;
}

void race_map::synchronise(warp& warp, unsigned lane, bool acquires, bool releases)
{
  auto const time = ++time_;
  auto& thread = threads_[thread_of(warp, lane)];
  auto& block = blocks_[warp.block().linear_index()];
  settle(block, warp);
  if (acquires) {
    thread.acquired = time;
    block.recent = time;
    block.recent_clock = warp.block().clock;
  }
  if (!releases) return;
  ++warp.block().clock;  // writes from now on are not released
  add_release(thread, warp.block().clock, time);
  add_release(block, warp.block().last_barrier, time);
}

/// Whether `thread` acquired what `writer` wrote at `clock`.
bool race_map::is_acquired(std::uint64_t writer, std::uint64_t clock, warp const& warp,
                           std::uint64_t thread)
{
  std::lock_guard const lock(mutex_);
  auto& own_block = blocks_[warp.block().linear_index()];
  settle(own_block, warp);
  auto const acquired = std::max(threads_[thread].acquired, own_block.acquired);
  auto const is_released = [&](history const& entries) {
    auto const& releases = entries.releases;
    auto const first = std::find_if(releases.begin(), releases.end(),
                                    [&](release const& entry) { return entry.clock > clock; });
    return first != releases.end() && first->time < acquired;
  };
  return is_released(threads_[writer]) ||
         is_released(blocks_[writer / warp.launch().block.count()]);
}

/// Whether the write `earlier` is ordered before an access of thread `thread` of `warp` now.
bool race_map::in_order(std::uint64_t earlier, warp const& warp, std::uint64_t thread)
{
  auto const writer = (earlier & k_thread_mask) - 1;
  if (writer == thread) return true;
  auto const threads = warp.launch().block.count();
  auto const clock = earlier >> k_thread_bits;
  if (writer / threads == warp.block().linear_index()) {
    if (clock < (warp.block().last_barrier & k_clock_mask)) return true;
    auto const same_warp = writer % threads / k_lanes == warp.index();
    if (same_warp && clock < (warp.last_sync & k_clock_mask)) return true;
  }
  return is_acquired(writer, clock, warp, thread);
}

void race_map::check_read(std::byte const* source, unsigned size, warp& reader, unsigned lane,
                          operation const& op)
{
  auto& block = reader.block();
  if (!block.owns_shared(source)) return;
  auto const* const map = block.shared_writers() + (source - block.shared());
  auto const thread = thread_of(reader, lane);
  for (unsigned i = 0; i < size; ++i) {
    auto const earlier = map[i].load(std::memory_order_relaxed);
    if (earlier == 0 || in_order(earlier, reader, thread)) continue;
    reader.fail(fault::race,
                "reads what " + name_of((earlier & k_thread_mask) - 1, reader) +
                    " wrote, without synchronisation",
                lane, op);
  }
}

void race_map::record_shared(std::atomic<std::uint64_t>* map, std::uint64_t offset, unsigned size,
                             warp& writer, unsigned lane, operation const& op)
{
  auto const thread = thread_of(writer, lane);
  auto const entry = (writer.block().clock & k_clock_mask) << k_thread_bits | (thread + 1);
  for (unsigned i = 0; i < size; ++i) {
    auto const earlier = map[offset + i].exchange(entry, std::memory_order_relaxed);
    if (earlier == 0 || in_order(earlier, writer, thread)) continue;
    writer.fail(fault::race,
                "writes what " + name_of((earlier & k_thread_mask) - 1, writer) +
                    " wrote, without synchronisation",
                lane, op);
  }
}

void race_map::record(region const& region, std::uint64_t offset, unsigned size, warp& writer,
                      unsigned lane, operation const& op)
{
  std::atomic<std::uint64_t>* map = nullptr;
  {
    std::lock_guard const lock(mutex_);
    auto& entries = maps_[region.base];
    if (!entries) entries = std::make_unique<std::atomic<std::uint64_t>[]>(region.size);
    map = entries.get();
  }
  record_shared(map, offset, size, writer, lane, op);
}

}  // namespace fatlink::interpreter
