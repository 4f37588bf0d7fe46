// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/memory.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "interpreter/decode/address_space.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::uint64_t k_alignment = 512;  // as the CUDA driver aligns
/// A wrong index misses an allocation by less.
constexpr std::uint64_t k_far = std::uint64_t{1} << 32;

auto first_above(region_list const& regions, std::uint64_t address)
{
  return std::upper_bound(regions.begin(), regions.end(), address,
                          [](std::uint64_t a, region const& r) { return a < r.base; });
}

/// Makes a region that has no address yet.
region make_region(std::uint64_t size, std::string name, bool read_only)
{
  constexpr std::uint64_t k_max = std::uint64_t{1} << 44;
  void* const storage =
      size > k_max
          ? nullptr
          : std::aligned_alloc(k_alignment, aligned(std::max<std::uint64_t>(size, 1), k_alignment));
  if (storage == nullptr)
    throw code_error(error_kind::memory,
                     "the host cannot allocate " + std::to_string(size) + " bytes");
  return {.base = 0,
          .size = size,
          .data = static_cast<std::byte*>(storage),
          .read_only = read_only,
          .name = std::move(name),
          .storage = {storage, [](void* pointer) { std::free(pointer); }}};
}

}  // namespace

region memory::allocate(std::uint64_t size, std::string name, bool read_only)
{
  allocation const request{size, std::move(name), read_only};
  return allocate({&request, 1}).front();
}

std::vector<region> memory::allocate(std::span<allocation const> requests)
{
  std::vector<region> allocated;
  allocated.reserve(requests.size());
  for (auto const& request : requests)
    allocated.push_back(make_region(request.size, request.name, request.read_only));
  std::lock_guard const lock(mutex_);
  for (auto& region : allocated) {
    region.base = next_;
    next_ += aligned(region.size, k_alignment) + k_alignment;
  }
  auto changed = std::make_shared<region_list>(*regions_);
  changed->insert(changed->end(), allocated.begin(), allocated.end());  // addresses only grow
  regions_ = std::move(changed);
  return allocated;
}

region memory::map(std::byte* data, std::uint64_t size, bool read_only)
{
  region mapped{.size = size, .data = data, .read_only = read_only, .is_mapped = true};
  std::lock_guard const lock(mutex_);
  auto changed = std::make_shared<region_list>(*regions_);
  mapped.base = next_ + reinterpret_cast<std::uintptr_t>(data) % k_alignment;
  changed->push_back(mapped);
  next_ = aligned(mapped.base + size, k_alignment) + k_alignment;
  regions_ = std::move(changed);
  return mapped;
}

void memory::release(std::uint64_t base) noexcept
try {
  std::lock_guard const lock(mutex_);
  auto changed = std::make_shared<region_list>(*regions_);
  std::erase_if(*changed, [&](region const& region) { return region.base == base; });
  regions_ = std::move(changed);
} catch (std::bad_alloc const&) {  // the region stays until the device is closed
}

void memory::release(std::span<region const> regions) noexcept
try {
  if (regions.empty()) return;
  std::lock_guard const lock(mutex_);
  auto changed = std::make_shared<region_list>(*regions_);
  std::erase_if(*changed, [&](region const& region) {
    auto const match =
        std::lower_bound(regions.begin(), regions.end(), region.base,
                         [](auto const& entry, std::uint64_t base) { return entry.base < base; });
    return match != regions.end() && match->base == region.base;
  });
  regions_ = std::move(changed);
} catch (std::bad_alloc const&) {  // the regions stay until the device is closed
}

std::shared_ptr<region_list const> memory::snapshot() const
{
  std::lock_guard const lock(mutex_);
  return regions_;
}

region const* find_region(region_list const& regions, std::uint64_t address,
                          std::uint64_t bytes) noexcept
{
  auto const above = first_above(regions, address);
  if (above == regions.begin()) return nullptr;
  auto const& candidate = *std::prev(above);
  return candidate.holds(address, bytes) ? &candidate : nullptr;
}

std::string name_of(region const& region)
{
  if (region.is_mapped)
    return "mapped memory of the host of " + std::to_string(region.size) + " bytes";
  return region.name.empty() ? "an allocation of " + std::to_string(region.size) + " bytes"
                             : region.name + " (" + std::to_string(region.size) + " bytes)";
}

std::string address_text(region_list const& regions, std::uint64_t address)
{
  if (address < k_alignment) return "a null pointer";
  if (address >= k_object_window && address - k_object_window < k_window_size)
    return "the handle of a texture or surface";
  if (address < k_allocations) return "in no allocation";
  auto const above = first_above(regions, address);
  auto const before =
      above == regions.end() || above->base - address >= k_far
          ? std::string()
          : std::to_string(above->base - address) + " bytes before " + name_of(*above);
  if (above == regions.begin()) return before.empty() ? "in no allocation" : before;
  auto const& below = *std::prev(above);
  if (address - below.base < below.size) return "in " + name_of(below);
  auto const distance = address - below.base - below.size;
  if (distance >= k_far)
    return before.empty() ? "in no allocation of the device; it may be an address of the host"
                          : before;
  auto const past = std::to_string(distance) + " bytes past the end of " + name_of(below);
  return before.empty() ? past : past + ", " + before;
}

// The heap.

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
