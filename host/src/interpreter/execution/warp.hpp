// SPDX-License-Identifier: Apache-2.0
// 32 threads that execute together. Threads that branch apart form groups, each with its own
// program counter; the group deepest in calls and, there, furthest behind runs first, and
// groups that meet are one again: so threads reconverge at the latest where their paths join.
// A group that runs long lets the others have a turn, so that threads may wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "interpreter/decode/failure.hpp"
#include "interpreter/decode/operation.hpp"
#include "interpreter/execution/memory.hpp"

namespace fatlink::interpreter {

class block;
struct launch_state;

/// What a call allocates: the callee's registers and local memory, for all lanes.
struct frame {
  interpreter::code const* code = nullptr;
  frame* caller = nullptr;
  call_site const* site = nullptr;  ///< in the caller
  std::uint32_t return_to = 0;
  lane_mask lanes = 0;           ///< that have not returned
  unsigned depth = 0;            ///< of calls; 0 is the kernel
  std::uint32_t local_base = 0;  ///< offset of its local memory in each thread's local window
  std::vector<std::uint64_t> registers;
  std::vector<std::uint32_t> predicates;
  std::vector<std::byte> local;  ///< code->local_bytes for lane 0, then lane 1, …
};

/// Lanes at one place.
struct group {
  enum class state { ready, converging, at_barrier };
  lane_mask lanes = 0;
  std::uint32_t pc = 0;
  frame* in = nullptr;
  group::state is = group::state::ready;
  unsigned barrier = 0;
  operation const* barrier_result = nullptr;  ///< bar.red, which gets its result at release
  std::uint64_t last_turn = 0;
};

class warp {
 public:
  /// Makes the warp's threads begin `entry`. `index` is the warp's in its block.
  void start(launch_state const& launch, interpreter::block& of, unsigned index, lane_mask lanes,
             interpreter::code const& entry);
  /// Runs until every group has ended or waits. Whether anything ran.
  bool run();

  [[nodiscard]] lane_mask live() const noexcept { return live_; }
  [[nodiscard]] std::vector<group>& waiting() noexcept { return groups_; }

  // For handlers. All are of the group that runs.
  [[nodiscard]] std::byte* at(operand_offset operand) const noexcept
  {
    return ((operand & k_constant) != 0 ? constants_ : registers_) + (operand & ~k_constant);
  }
  [[nodiscard]] lane_mask predicate(std::uint32_t operand) const noexcept
  {
    return predicates_[operand >> 1] ^ (0 - (operand & 1));
  }
  void set_predicate(std::uint32_t operand, lane_mask bits, lane_mask mask) noexcept
  {
    auto& to = predicates_[operand >> 1];
    to = (to & ~mask) | (bits & mask);
  }
  [[nodiscard]] lane_mask active() const noexcept { return now_.lanes; }
  [[nodiscard]] frame& current() const noexcept { return *now_.in; }
  [[nodiscard]] std::byte* local(unsigned lane, std::uint32_t offset) const noexcept
  {
    return local_ + std::size_t{lane} * local_bytes_ + offset;
  }
  [[nodiscard]] interpreter::block& block() const noexcept { return *block_; }
  [[nodiscard]] launch_state const& launch() const noexcept { return *launch_; }
  [[nodiscard]] unsigned index() const noexcept { return index_; }

  /// The lanes of `mask` go to `target`, the others of the group go on.
  void branch(lane_mask mask, std::uint32_t target);
  void call(lane_mask mask, interpreter::code const& callee, call_site const& site);
  /// As call, and `others` execute the same operation again once these are under way.
  void call_some(lane_mask mask, lane_mask others, interpreter::code const& callee,
                 call_site const& site);
  void yield_turn() noexcept  ///< lets other groups run
  {
    rotate_ = true;
    stop_before_ = 0;
  }
  void leave(lane_mask mask);   ///< ret
  void finish(lane_mask mask);  ///< exit
  void wait_at(unsigned barrier, operation const& op, lane_mask mask, bool has_result);
  /// Whether all live lanes of `named` are `here`; else makes the group wait until they are, and
  /// execute the same operation again then: the handler returns at once.
  bool converged(lane_mask named, lane_mask here);
  void note_warp_sync() noexcept;
  /// For the race check: what resolve gave for a write. Only global and shared memory count.
  void note_write(std::byte const* to, unsigned size, unsigned lane, operation const& op);

  /// The host address of [address, address + size), generic. Checks bounds and alignment.
  /// @throws failure (address) naming the thread and the instruction.
  std::byte* resolve(std::uint64_t address, unsigned size, unsigned lane, operation const& op,
                     bool writes);
  std::byte* resolve_shared(std::uint64_t offset, unsigned size, unsigned lane, operation const& op,
                            bool writes);
  std::byte* resolve_local(std::uint64_t address, unsigned size, unsigned lane, operation const& op,
                           bool writes);
  /// Text at a generic address, up to its NUL.
  std::string text_at(std::uint64_t address, unsigned lane, operation const& op);
  /// @throws failure, naming kernel, thread and instruction.
  [[noreturn]] void fail(fault kind, std::string const& why, unsigned lane,
                         operation const& op) const;
  /// As fail, for lanes that do not run now.
  [[noreturn]] void fail_in(interpreter::code const& at, fault kind, std::string const& why,
                            unsigned lane, operation const& op) const;

  lane_mask carry = 0;          ///< the condition code's carry, a bit a lane; no borrow: 1
  std::uint64_t last_sync = 0;  ///< the block's clock at the last bar.warp.sync
  std::uint64_t executed = 0;   ///< instructions, each counted for every lane of its group

 private:
  /// To another frame or group: the loop adds 1 to the program counter, then chooses again.
  void jump(std::uint32_t target) noexcept
  {
    now_.pc = target - 1;
    stop_before_ = 0;
  }
  bool select();
  void run_group();
  void merge_groups();
  [[nodiscard]] group* choose();
  void enter(frame* in) noexcept;
  void take_turn();
  void add_group(lane_mask lanes, std::uint32_t pc, frame* in, group::state is);
  frame* new_frame(interpreter::code const& of, lane_mask lanes);
  void drop_lanes(frame* from, lane_mask lanes);
  [[noreturn]] void fail_address(char const* verb, std::uint64_t address, unsigned size,
                                 std::string const& why, unsigned lane, operation const& op) const;
  std::byte* resolve_window(std::uint64_t address, unsigned size, unsigned lane,
                            operation const& op, bool writes);

  group now_;
  std::byte* registers_ = nullptr;
  std::byte* constants_ = nullptr;
  std::uint32_t* predicates_ = nullptr;
  std::byte* local_ = nullptr;
  std::uint32_t local_bytes_ = 0;
  std::uint32_t stop_before_ = 0;  ///< choose a group again on reaching this pc
  std::uint32_t turn_ = 0;         ///< operations left before others get a turn
  std::uint32_t turn_length_ = 0;
  bool rotate_ = false;
  std::uint64_t issued_ = 0;  ///< operations of all groups
  std::uint64_t turns_ = 0;
  region const* last_region_ = nullptr;

  lane_mask live_ = 0;
  unsigned index_ = 0;
  interpreter::block* block_ = nullptr;
  launch_state const* launch_ = nullptr;
  std::vector<group> groups_;
  std::vector<std::unique_ptr<frame>> frames_;
  std::map<unsigned, std::vector<frame*>> spare_frames_;  ///< by code::index; of what was called
};

}  // namespace fatlink::interpreter
