// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/cluster.hpp"

#include <algorithm>

#include "interpreter/decode/address_space.hpp"

namespace fatlink::interpreter {
namespace {

/// The number in the grid of the block at `inner` of cluster `outer`.
std::uint64_t block_number(launch_state const& launch, dimensions const& outer,
                           dimensions const& inner) noexcept
{
  auto const& size = launch.cluster;
  auto const x = std::uint64_t{outer.x} * size.x + inner.x;
  auto const y = std::uint64_t{outer.y} * size.y + inner.y;
  auto const z = std::uint64_t{outer.z} * size.z + inner.z;
  return (z * launch.grid.y + y) * launch.grid.x + x;
}

}  // namespace

cluster::cluster(launch_state const& launch) : launch_(launch), states_(launch.cluster.count())
{
  for (std::size_t rank = 0; rank < states_.size(); ++rank)
    blocks_.push_back(std::make_unique<block>(launch, *this, static_cast<std::uint32_t>(rank)));
}

void cluster::start(std::uint64_t index)
{
  auto const& size = launch_.cluster;
  dimensions const clusters{launch_.grid.x / size.x, launch_.grid.y / size.y,
                            launch_.grid.z / size.z};
  auto const outer = place_in(clusters, index);
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank) {
    blocks_[rank]->start(block_number(launch_, outer, place_in(size, rank)));
    states_[rank] = block_state::runs;
  }
}

block_state cluster::step()
{
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank) {
    if (states_[rank] == block_state::ended) continue;
    running_block_ = blocks_[rank]->linear_index();
    states_[rank] = blocks_[rank]->step();
  }
  if (release_barrier()) return block_state::runs;
  auto const has = [this](block_state state) {
    return std::find(states_.begin(), states_.end(), state) != states_.end();
  };
  if (has(block_state::runs)) return block_state::runs;
  if (has(block_state::waits)) return block_state::waits;
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank)
    if (states_[rank] == block_state::waits_for_cluster) {
      running_block_ = blocks_[rank]->linear_index();
      blocks_[rank]->fail_deadlock();
    }
  return block_state::ended;
}

/// Once every live thread has arrived at the cluster's barrier, lets all continue.
bool cluster::release_barrier()
{
  auto const is_complete = [](auto const& block) { return block->all_at_cluster_barrier(); };
  auto const has_arrived = [](auto const& block) { return block->any_at_cluster_barrier(); };
  if (!std::all_of(blocks_.begin(), blocks_.end(), is_complete)) return false;
  if (!std::any_of(blocks_.begin(), blocks_.end(), has_arrived)) return false;
  for (auto& block : blocks_) block->release_cluster_barrier();
  return true;
}

std::uint64_t cluster::executed() const noexcept
{
  std::uint64_t sum = 0;
  for (auto const& block : blocks_) sum += block->executed();
  return sum;
}

shared_place cluster::place(std::uint64_t offset, std::uint64_t size) noexcept
{
  auto const rank = (offset >> k_rank_at) - 1;  // of its own block: none
  if (rank >= blocks_.size()) return {};
  auto& block = *blocks_[rank];
  auto const inner = offset & ((std::uint64_t{1} << k_rank_at) - 1);
  if (size > block.shared_bytes() || inner > block.shared_bytes() - size) return {};
  return {&block, inner};
}

}  // namespace fatlink::interpreter
