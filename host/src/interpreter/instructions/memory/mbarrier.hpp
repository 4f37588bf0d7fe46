// SPDX-License-Identifier: Apache-2.0
// The mbarrier object in 64 bits of shared memory. Its contents are opaque in PTX; here:
//   bits  0 to 19  arrivals that the current phase still waits for
//   bits 20 to 39  arrivals that a phase expects
//   bits 40 to 60  bytes that the current phase still waits for, signed
//   bits 61 to 62  the phase, modulo 4
//   bit  63        it is initialized
// Operations that complete a phase start the next one. The blocks of a cluster run on one thread of
// the host, so plain accesses are atomic. Source: PTX ISA 9.0, "mbarrier".
#pragma once

#include <cstdint>

#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {

/// The parts of an object, or of the state that an arrive-on operation returns.
struct mbarrier_state {
  static constexpr std::uint32_t k_max_count = (1U << 20) - 1;
  static constexpr std::int64_t k_max_bytes = (1 << 20) - 1;

  std::uint32_t pending = 0;
  std::uint32_t expected = 0;
  std::int64_t bytes = 0;
  std::uint32_t phase = 0;
  bool is_valid = false;
};

/// An mbarrier that a lane of `warp` accesses with `op`.
class mbarrier_object {
 public:
  /// @throws code_error (address) not an aligned address in shared memory.
  mbarrier_object(warp& warp, operation const& op, unsigned lane, std::uint64_t address);

  [[nodiscard]] std::uint64_t word() const noexcept;
  [[nodiscard]] std::byte const* place() const noexcept { return place_; }
  /// @throws code_error (address) it is not initialized.
  [[nodiscard]] mbarrier_state state() const;

  void initialize(std::uint32_t count);
  void invalidate();
  void expect_bytes(std::uint32_t count);
  void complete_bytes(std::uint64_t count);
  /// Returns the state before. `may_complete`: whether the phase may end here.
  /// @throws code_error (deadlock) more arrivals than the phase waits for.
  std::uint64_t arrive(std::uint32_t count, bool may_complete = true);
  void drop(std::uint32_t count);  ///< the next phases expect fewer arrivals
  /// Adds an arrival to those that the phase waits for.
  void add_pending();

 private:
  void write(mbarrier_state state);
  [[noreturn]] void fail(std::string const& reason) const;

  warp& warp_;
  operation const& op_;
  unsigned lane_;
  std::byte* place_;
};

}  // namespace fatlink::interpreter
