// SPDX-License-Identifier: Apache-2.0
// The device's global and constant memory, and the map of its 64-bit address space. Addresses
// are the device's own: none is a host address, and a gap lies between any two allocations, so
// that an access out of bounds is seen.
//
//   0x0000_1000_0000_0000  shared memory of the block, offsets 0 up
//   0x0000_2000_0000_0000  local memory of the thread
//   0x0000_3000_0000_0000  functions, 16 bytes apart
//   0x0000_4000_0000_0000  the kernel's parameters
//   0x0000_7000_0000_0000  allocations
//
// Threads: safe. A snapshot stays valid while it is held, whatever is released.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "interpreter/decode/failure.hpp"

namespace fatlink::cpu {

constexpr std::uint64_t k_window_size = std::uint64_t{1} << 32;
constexpr std::uint64_t k_shared_window = 0x1000'0000'0000;
constexpr std::uint64_t k_local_window = 0x2000'0000'0000;
constexpr std::uint64_t k_function_window = 0x3000'0000'0000;
constexpr std::uint64_t k_parameter_window = 0x4000'0000'0000;
constexpr std::uint64_t k_allocations = 0x7000'0000'0000;
constexpr std::uint64_t k_function_stride = 16;

struct region {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::byte* data = nullptr;
  bool read_only = false;
  std::string name;  ///< a variable's; empty for an allocation
  std::shared_ptr<void> storage;

  [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t bytes) const noexcept
  {
    return address >= base && bytes <= size && address - base <= size - bytes;
  }
};

/// What memory::allocate is asked for.
struct allocation {
  std::uint64_t size = 0;
  std::string name;
  bool read_only = false;
};

using region_list = std::vector<region>;  ///< in order of base

class memory {
 public:
  /// `size` bytes, uninitialised, aligned to 512. @throws failure (memory).
  region allocate(std::uint64_t size, std::string name = {}, bool read_only = false);
  /// All of `requests`, in their order, in one step: each step copies the list of regions.
  std::vector<region> allocate(std::span<allocation const> requests);
  /// Nothing happens for an address that no allocation begins at, or where the host has no memory
  /// for a new list.
  void release(std::uint64_t base) noexcept;
  /// All of `regions`, as allocate() returned them, in one step.
  void release(std::span<region const> regions) noexcept;
  [[nodiscard]] std::shared_ptr<region_list const> snapshot() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<region_list const> regions_ = std::make_shared<region_list>();
  std::uint64_t next_ = k_allocations;
};

/// The region that holds all of [address, address + bytes); null when none does.
region const* find_region(region_list const& in, std::uint64_t address,
                          std::uint64_t bytes) noexcept;

/// Where `address` is, in words: "4 bytes past the end of an allocation of 256 bytes".
std::string describe(region_list const& in, std::uint64_t address);

}  // namespace fatlink::cpu
