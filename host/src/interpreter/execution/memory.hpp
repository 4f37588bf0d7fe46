// SPDX-License-Identifier: Apache-2.0
// The device's global and constant memory. Addresses are the device's own, never host addresses
// (decode/address_space.hpp), and a gap separates any two allocations, so that every access out
// of bounds is detected. Memory of the host can be mapped, and then has such addresses, too.
// Threads: safe. A snapshot stays valid while it is held, whatever is released meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/code_error.hpp"
#include "interpreter/execution/textures.hpp"
#include "util/process/fork_guard.hpp"

namespace fatlink::interpreter {

struct region {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::byte* data = nullptr;
  bool read_only = false;
  bool is_mapped = false;  ///< the host's memory, which the caller owns
  std::string name = {};   ///< of a variable; empty for an allocation
  std::shared_ptr<void> storage = {};

  [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t bytes) const noexcept
  {
    return address >= base && bytes <= size && address - base <= size - bytes;
  }
};

/// Memory of the device that is contiguous on the host: for each lane the `bytes` from the device's
/// address `begin` are at `data` + lane · `step`.
struct memory_span {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::byte* data = nullptr;  ///< null: there is none
  std::size_t step = 0;       ///< 0: the same memory for all lanes
  bool read_only = false;

  [[nodiscard]] bool holds(std::uint64_t address) const noexcept { return address - begin < bytes; }
};

/// A request to memory::allocate.
struct allocation {
  std::uint64_t size = 0;
  std::string name = {};
  bool read_only = false;
};

using region_list = std::vector<region>;  ///< in order of base

class memory {
 public:
  /// Allocates `size` uninitialised bytes, aligned to 512. @throws code_error (memory).
  region allocate(std::uint64_t size, std::string name = {}, bool read_only = false);
  /// Allocates all `requests` in their order, in one step: each step copies the list of regions.
  std::vector<region> allocate(std::span<allocation const> requests);
  /// Makes `size` bytes of the host at `data` memory of the device. Their address is equal to
  /// `data` modulo 512, and is not that of another mapping of the same bytes. release() ends the
  /// mapping; until then `data` stays valid.
  region map(std::byte* data, std::uint64_t size, bool read_only);
  /// Releases the allocation that begins at `base`. Does nothing if there is none, or if the host
  /// has no memory for a new list.
  void release(std::uint64_t base) noexcept;
  /// Releases all `regions`, which allocate() returned, in one step.
  void release(std::span<region const> regions) noexcept;
  [[nodiscard]] std::shared_ptr<region_list const> snapshot() const;
  /// The objects whose images are in this memory.
  [[nodiscard]] texture_registry& textures() noexcept { return textures_; }

 private:
  mutable std::mutex mutex_;
  detail::fork_guard fork_guard_{detail::fork_order::reference_memory, mutex_};
  std::shared_ptr<region_list const> regions_ = std::make_shared<region_list>();
  std::uint64_t next_ = k_allocations;
  texture_registry textures_;
};

/// The region that holds all of [address, address + bytes); null if there is none.
region const* find_region(region_list const& regions, std::uint64_t address,
                          std::uint64_t bytes) noexcept;

/// "an allocation of 256 bytes", "table (64 bytes)"; for messages.
std::string name_of(region const& region);

/// Describes `address` for messages: "4 bytes past the end of an allocation of 256 bytes".
std::string address_text(region_list const& regions, std::uint64_t address);

/// The heap of malloc and free in device code. As on a GPU, it belongs to the program: memory that
/// a kernel allocates stays for the next one. Sizes are rounded up to powers of two, and memory
/// that is freed serves later requests of its size. Threads: safe.
class device_heap {
 public:
  static constexpr std::uint64_t k_bytes = std::uint64_t{16} << 20;

  /// @throws code_error (memory).
  explicit device_heap(std::shared_ptr<memory> memory);
  ~device_heap();
  device_heap(device_heap const&) = delete;
  device_heap& operator=(device_heap const&) = delete;

  /// The address of `bytes` bytes, aligned to 16; 0 if the heap has no room.
  std::uint64_t allocate(std::uint64_t bytes);
  /// False: `address` is neither 0 nor that of allocated memory.
  bool release(std::uint64_t address);

 private:
  std::shared_ptr<memory> memory_;
  std::uint64_t base_ = 0;
  std::mutex mutex_;
  detail::fork_guard fork_guard_{detail::fork_order::reference_heap, mutex_};
  std::uint64_t used_ = 0;                                    ///< bytes from base_
  std::map<std::uint64_t, std::uint64_t> sizes_;              ///< of allocated memory, by address
  std::map<std::uint64_t, std::vector<std::uint64_t>> free_;  ///< addresses, by size
};

}  // namespace fatlink::interpreter
