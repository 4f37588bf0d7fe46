// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/races.hpp"

#include "interpreter/execution/block.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {
namespace {

// <writer> ::= <clock> 24 bits <thread + 1> 40 bits; 0: nobody
constexpr unsigned k_thread_bits = 40;
constexpr std::uint64_t k_thread_mask = (std::uint64_t{1} << k_thread_bits) - 1;
constexpr std::uint64_t k_clock_mask = (std::uint64_t{1} << (64 - k_thread_bits)) - 1;

std::uint64_t thread_of(warp const& by, unsigned lane) noexcept
{
  return by.block().linear_index() * by.launch().block.count() +
         std::uint64_t{by.index()} * k_lanes + lane;
}

/// Whether what `earlier` wrote is synchronised with the thread that writes now.
bool in_order(std::uint64_t earlier, warp const& by, std::uint64_t me) noexcept
{
  auto const writer = (earlier & k_thread_mask) - 1;
  if (writer == me) return true;
  auto const threads = by.launch().block.count();
  if (writer / threads != by.block().linear_index()) return false;
  auto const clock = earlier >> k_thread_bits;
  if (clock < (by.block().last_barrier & k_clock_mask)) return true;
  auto const same_warp = writer % threads / k_lanes == by.index();
  return same_warp && clock < (by.last_sync & k_clock_mask);
}

std::string name_of(std::uint64_t thread, warp const& of)
{
  auto const threads = of.launch().block.count();
  return "thread " + std::to_string(thread % threads) + " of block " +
         std::to_string(thread / threads);
}

}  // namespace

void race_map::note_shared(std::atomic<std::uint64_t>* map, std::uint64_t offset, unsigned size,
                           warp& by, unsigned lane, operation const& op)
{
  auto const me = thread_of(by, lane);
  auto const mine = (by.block().clock & k_clock_mask) << k_thread_bits | (me + 1);
  for (unsigned i = 0; i < size; ++i) {
    auto const earlier = map[offset + i].exchange(mine, std::memory_order_relaxed);
    if (earlier == 0 || in_order(earlier, by, me)) continue;
    by.fail(fault::race,
            "writes what " + name_of((earlier & k_thread_mask) - 1, by) +
                " wrote, and nothing orders the two",
            lane, op);
  }
}

void race_map::note(region const& in, std::uint64_t offset, unsigned size, warp& by, unsigned lane,
                    operation const& op)
{
  std::atomic<std::uint64_t>* map = nullptr;
  {
    std::lock_guard const lock(mutex_);
    auto& found = maps_[in.base];
    if (!found) found = std::make_unique<std::atomic<std::uint64_t>[]>(in.size);
    map = found.get();
  }
  note_shared(map, offset, size, by, lane, op);
}

}  // namespace fatlink::interpreter
