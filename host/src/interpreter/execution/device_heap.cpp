// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/device_heap.hpp"

#include <algorithm>
#include <bit>

namespace fatlink::interpreter {

device_heap::device_heap(std::shared_ptr<memory> memory)
    : memory_(std::move(memory)), base_(memory_->allocate(k_bytes, "the device heap").base)
{
}

device_heap::~device_heap()
{
  memory_->release(base_);
}

std::uint64_t device_heap::allocate(std::uint64_t bytes)
{
  constexpr std::uint64_t k_least = 16;
  if (bytes > k_bytes) return 0;
  auto const size = std::bit_ceil(std::max(bytes, k_least));
  std::lock_guard const lock(mutex_);
  auto& spare = free_[size];
  if (spare.empty()) {
    if (size > k_bytes - used_) return 0;
    spare.push_back(base_ + used_);
    used_ += size;
  }
  auto const address = spare.back();
  spare.pop_back();
  sizes_.emplace(address, size);
  return address;
}

bool device_heap::release(std::uint64_t address)
{
  if (address == 0) return true;
  std::lock_guard const lock(mutex_);
  auto const entry = sizes_.find(address);
  if (entry == sizes_.end()) return false;
  free_[entry->second].push_back(address);
  sizes_.erase(entry);
  return true;
}

}  // namespace fatlink::interpreter
