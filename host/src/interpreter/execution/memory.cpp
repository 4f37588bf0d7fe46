// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace fatlink::interpreter {
namespace {

constexpr std::uint64_t k_alignment = 512;  // as the CUDA driver's

std::uint64_t rounded_up(std::uint64_t size) noexcept
{
  return (size + k_alignment - 1) / k_alignment * k_alignment;
}

auto first_above(region_list const& in, std::uint64_t address)
{
  return std::upper_bound(in.begin(), in.end(), address,
                          [](std::uint64_t a, region const& r) { return a < r.base; });
}

/// A region without an address.
region make_region(std::uint64_t size, std::string name, bool read_only)
{
  constexpr std::uint64_t k_most = std::uint64_t{1} << 44;
  void* const storage =
      size > k_most ? nullptr
                    : std::aligned_alloc(k_alignment, rounded_up(std::max<std::uint64_t>(size, 1)));
  if (storage == nullptr)
    throw failure(fault::memory, "the host has no " + std::to_string(size) + " bytes left");
  return {.base = 0,
          .size = size,
          .data = static_cast<std::byte*>(storage),
          .read_only = read_only,
          .name = std::move(name),
          .storage = {storage, [](void* held) { std::free(held); }}};
}

}  // namespace

region memory::allocate(std::uint64_t size, std::string name, bool read_only)
{
  allocation const request{size, std::move(name), read_only};
  return allocate({&request, 1}).front();
}

std::vector<region> memory::allocate(std::span<allocation const> requests)
{
  std::vector<region> made;
  made.reserve(requests.size());
  for (auto const& request : requests)
    made.push_back(make_region(request.size, request.name, request.read_only));
  std::lock_guard const lock(mutex_);
  for (auto& one : made) {
    one.base = next_;
    next_ += rounded_up(one.size) + k_alignment;
  }
  auto changed = std::make_shared<region_list>(*regions_);
  changed->insert(changed->end(), made.begin(), made.end());  // addresses only grow: in order
  regions_ = std::move(changed);
  return made;
}

void memory::release(std::uint64_t base) noexcept
try {
  std::lock_guard const lock(mutex_);
  auto changed = std::make_shared<region_list>(*regions_);
  std::erase_if(*changed, [&](region const& one) { return one.base == base; });
  regions_ = std::move(changed);
} catch (std::bad_alloc const&) {  // the region stays until the device is closed
}

void memory::release(std::span<region const> regions) noexcept
try {
  if (regions.empty()) return;
  std::lock_guard const lock(mutex_);
  auto changed = std::make_shared<region_list>(*regions_);
  std::erase_if(*changed, [&](region const& one) {
    auto const match = std::lower_bound(
        regions.begin(), regions.end(), one.base,
        [](region const& listed, std::uint64_t base) { return listed.base < base; });
    return match != regions.end() && match->base == one.base;
  });
  regions_ = std::move(changed);
} catch (std::bad_alloc const&) {  // the regions stay until the device is closed
}

std::shared_ptr<region_list const> memory::snapshot() const
{
  std::lock_guard const lock(mutex_);
  return regions_;
}

region const* find_region(region_list const& in, std::uint64_t address,
                          std::uint64_t bytes) noexcept
{
  auto const above = first_above(in, address);
  if (above == in.begin()) return nullptr;
  auto const& found = *std::prev(above);
  return found.holds(address, bytes) ? &found : nullptr;
}

std::string describe(region_list const& in, std::uint64_t address)
{
  if (address < k_alignment) return "a null pointer";
  auto const above = first_above(in, address);
  if (address < k_allocations || above == in.begin()) return "in no allocation";
  auto const& below = *std::prev(above);
  auto const what = below.name.empty() ? "an allocation of " + std::to_string(below.size) + " bytes"
                                       : below.name + " (" + std::to_string(below.size) + " bytes)";
  if (address - below.base < below.size) return "in " + what;
  return std::to_string(address - below.base - below.size) + " bytes past the end of " + what;
}

}  // namespace fatlink::interpreter
