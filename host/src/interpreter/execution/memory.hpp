// SPDX-License-Identifier: Apache-2.0
// The device's global and constant memory. Addresses are the device's own, never host addresses
// (decode/address_space.hpp), and a gap separates any two allocations, so that every access out
// of bounds is detected.
// Threads: safe. A snapshot stays valid while it is held, whatever is released meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/failure.hpp"

namespace fatlink::interpreter {

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

}  // namespace fatlink::interpreter
