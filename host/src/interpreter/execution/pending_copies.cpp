// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/pending_copies.hpp"

#include <cstring>

namespace fatlink::interpreter {
namespace {

// Of a thread that never waits: what exceeds them is copied at once.
constexpr std::size_t k_max_copies = 4096;
constexpr std::size_t k_max_groups = 1024;

void perform(std::vector<pending_copy>& copies)
{
  for (auto const& copy : copies) {
    std::byte bytes[16] = {};
    std::memcpy(bytes, copy.source, copy.available);
    std::memcpy(copy.target, bytes, copy.size);
  }
  copies.clear();
}

}  // namespace

void pending_copies::clear()
{
  if (is_used_) lanes_ = {};
  is_used_ = false;
}

void pending_copies::add(unsigned lane, pending_copy const& copy)
{
  is_used_ = true;
  auto& open = lanes_[lane].open;
  if (open.size() == k_max_copies) perform(open);
  open.push_back(copy);
}

void pending_copies::complete_first(lane_copies& copies)
{
  copies.committed_copies -= copies.committed.front().size();
  perform(copies.committed.front());
  copies.committed.pop_front();
}

void pending_copies::commit(unsigned lane)
{
  is_used_ = true;
  auto& copies = lanes_[lane];
  copies.committed_copies += copies.open.size();
  copies.committed.push_back(std::move(copies.open));
  copies.open.clear();
  complete(lane, k_max_groups);
  while (copies.committed_copies > k_max_copies) complete_first(copies);
}

void pending_copies::complete(unsigned lane, std::uint64_t allowed)
{
  auto& copies = lanes_[lane];
  while (copies.committed.size() > allowed) complete_first(copies);
}

void pending_copies::complete_all(unsigned lane)
{
  complete(lane, 0);
  perform(lanes_[lane].open);
}

}  // namespace fatlink::interpreter
