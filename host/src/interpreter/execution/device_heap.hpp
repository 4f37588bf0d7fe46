// SPDX-License-Identifier: Apache-2.0
// The heap of malloc and free in device code. As on a GPU, it belongs to the program: memory that a
// kernel allocates stays for the next one. Sizes are rounded up to powers of two, and memory that
// is freed serves later requests of its size.
// Threads: safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "interpreter/execution/memory.hpp"
#include "util/process/fork_guard.hpp"

namespace fatlink::interpreter {

class device_heap {
 public:
  static constexpr std::uint64_t k_bytes = std::uint64_t{16} << 20;

  /// @throws failure (memory).
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
