// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/races.hpp"

#include "interpreter/execution/block.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {
namespace {

// clang-format off
// <writer> ::= <clock> <thread>     64 bits; 0: no writer
// <clock>  ::= 24 bits, the block's clock at the write
// <thread> ::= 40 bits, the number of the thread in the launch plus 1
// clang-format on
constexpr unsigned k_thread_bits = 40;
constexpr std::uint64_t k_thread_mask = (std::uint64_t{1} << k_thread_bits) - 1;
constexpr std::uint64_t k_clock_mask = (std::uint64_t{1} << (64 - k_thread_bits)) - 1;

std::uint64_t thread_of(warp const& writer, unsigned lane) noexcept
{
  return writer.block().linear_index() * writer.launch().block.count() +
         std::uint64_t{writer.index()} * k_lanes + lane;
}

/// Whether the write `earlier` is ordered before a write of thread `thread` of `warp` now.
bool in_order(std::uint64_t earlier, warp const& warp, std::uint64_t thread) noexcept
{
  auto const writer = (earlier & k_thread_mask) - 1;
  if (writer == thread) return true;
  auto const threads = warp.launch().block.count();
  if (writer / threads != warp.block().linear_index()) return false;
  auto const clock = earlier >> k_thread_bits;
  if (clock < (warp.block().last_barrier & k_clock_mask)) return true;
  auto const same_warp = writer % threads / k_lanes == warp.index();
  return same_warp && clock < (warp.last_sync & k_clock_mask);
}

std::string name_of(std::uint64_t thread, warp const& warp)
{
  auto const threads = warp.launch().block.count();
  return "thread " + std::to_string(thread % threads) + " of block " +
         std::to_string(thread / threads);
}

}  // namespace

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
