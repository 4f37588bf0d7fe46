// SPDX-License-Identifier: Apache-2.0
#include "cpu/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace fatlink::cpu {
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

}  // namespace

region memory::allocate(std::uint64_t size, std::string name, bool read_only)
{
  constexpr std::uint64_t k_most = std::uint64_t{1} << 44;
  void* const storage =
      size > k_most ? nullptr
                    : std::aligned_alloc(k_alignment, rounded_up(std::max<std::uint64_t>(size, 1)));
  if (storage == nullptr)
    throw failure(fault::memory, "the host has no " + std::to_string(size) + " bytes left");
  region made{.base = 0,
              .size = size,
              .data = static_cast<std::byte*>(storage),
              .read_only = read_only,
              .name = std::move(name),
              .storage = {storage, [](void* held) { std::free(held); }}};
  std::lock_guard const lock(mutex_);
  made.base = next_;
  next_ += rounded_up(size) + k_alignment;
  auto changed = std::make_shared<region_list>(*regions_);
  changed->push_back(made);  // addresses only grow: the list stays in order
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

}  // namespace fatlink::cpu
