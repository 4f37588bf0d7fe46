// SPDX-License-Identifier: Apache-2.0
// 32 threads that execute together. Threads that take different branches form groups, each with its
// own program counter. The group in the deepest call runs first; among these, the one with the
// lowest program counter. Groups that reach the same place merge, so threads reconverge where their
// paths join. A group that runs for long yields to the others and to the other warps, so that
// threads may wait for each other. A group that only reads the same values again waits for another
// thread: its turns are short.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interpreter/decode/code_error.hpp"
#include "interpreter/decode/operation.hpp"
#include "interpreter/execution/memory.hpp"
#include "interpreter/execution/races.hpp"

namespace fatlink::interpreter {

// The copies of cp.async that threads of a warp have started. A copy takes place as late as PTX
// allows, when its thread waits for it: a missing wait shows as missing data.

/// Copies `available` bytes to `target`, and zeros up to `size`; at most 16.
struct pending_copy {
  std::byte* target = nullptr;
  std::byte const* source = nullptr;
  std::uint8_t size = 0;
  std::uint8_t available = 0;
};

class pending_copies {
 public:
  void clear();  ///< forgets all copies
  void add(unsigned lane, pending_copy const& copy);
  /// Ends the group to which add() adds.
  void commit(unsigned lane);
  /// Completes all groups of `lane` but the `allowed` last ones.
  void complete(unsigned lane, std::uint64_t allowed);
  /// Completes all copies of `lane`, committed or not.
  void complete_all(unsigned lane);

 private:
  using copy_group = std::vector<pending_copy>;
  struct lane_copies {
    copy_group open;
    std::deque<copy_group> committed;
    std::size_t committed_copies = 0;  ///< of all groups
  };

  static void complete_first(lane_copies& copies);

  std::array<lane_copies, k_lanes> lanes_;
  bool is_used_ = false;
};

/// The memory of alloca, for the threads of a warp. A function's memory is released at its return.
class thread_stacks {
 public:
  /// Offsets in the local window begin here, above those of variables.
  static constexpr std::uint32_t k_base = 1U << 20;
  static constexpr std::uint32_t k_max_bytes = 512U * 1024U;  ///< of a thread

  void clear();  ///< releases all memory
  /// Allocates memory of a function that is called in depth `depth`. Returns its offset in the
  /// local window; nothing if the thread's stack is full. `alignment` is a power of two.
  std::optional<std::uint32_t> allocate(unsigned lane, unsigned depth, std::uint64_t bytes,
                                        std::uint64_t alignment);
  /// Releases what functions in depth `depth` or deeper have allocated.
  void release(lane_mask lanes, unsigned depth);
  /// The end of the memory that is allocated.
  [[nodiscard]] std::uint32_t top(unsigned lane) const noexcept { return lanes_[lane].top; }
  /// Sets the end to an earlier one. False: it is not an earlier one.
  bool restore(unsigned lane, std::uint64_t top);
  /// The host address of `size` bytes at `offset`; null if they are not allocated.
  [[nodiscard]] std::byte* place(unsigned lane, std::uint64_t offset, std::uint64_t size) noexcept;

 private:
  struct mark {
    unsigned depth = 0;
    std::uint32_t top = 0;  ///< before the first allocation of the function
  };
  struct lane_stack {
    std::uint32_t top = k_base;
    std::vector<std::byte> bytes;
    std::vector<mark> marks;
  };

  std::array<lane_stack, k_lanes> lanes_;
  bool is_used_ = false;
};

class block;
struct launch_state;
struct shared_place;

/// The memory of one call: the callee's registers and local memory, for all lanes.
struct frame {
  interpreter::code const* code = nullptr;
  frame* caller = nullptr;
  call_site const* site = nullptr;  ///< the call, in the caller
  std::uint32_t return_to = 0;
  lane_mask lanes = 0;           ///< lanes that have not returned
  unsigned depth = 0;            ///< of nested calls; 0: the kernel
  std::uint32_t local_base = 0;  ///< offset of its local memory in each thread's local window
  std::vector<std::uint64_t> registers;
  std::vector<std::uint32_t> predicates;
  std::vector<std::byte> local;  ///< code->local_bytes for lane 0, then lane 1, …
};

enum class group_state { ready, converging, at_barrier };

/// Lanes at the same place.
struct group {
  lane_mask lanes = 0;
  std::uint32_t pc = 0;
  interpreter::frame* frame = nullptr;
  group_state state = group_state::ready;
  unsigned barrier = 0;                       ///< its number, in state at_barrier
  operation const* barrier_result = nullptr;  ///< the bar.red that gets its result at release
  std::uint64_t last_turn = 0;
  bool is_polling = false;  ///< its last turn only read the same values again
};

/// How a turn of a warp ended.
enum class turn_end {
  waits,   ///< every group has ended or waits
  worked,  ///< after so many operations
  polled,  ///< the group that ran waits for a change of memory, or sleeps
};

/// What the lanes of an operation read, in one number.
struct poll_digest {
  std::uint64_t number = 0;
  void const* place = nullptr;  ///< the host address of one lane's value

  void add(void const* element, std::uint64_t value) noexcept
  {
    place = element;
    number = (number ^ reinterpret_cast<std::uintptr_t>(element) ^ value << 20U ^ value >> 44U) *
             0x9E3779B97F4A7C15U;
  }
};

/// What an operation last read that other threads may change.
struct poll_record {
  operation const* op = nullptr;
  poll_digest digest = {};
  std::uint64_t state = 0;  ///< of the group then, see warp::state_digest(); 0: not known
};

/// Bytes of a text that device code prints, of a conversion and of a call: as CUDA's buffer.
constexpr std::size_t k_max_text = std::size_t{1} << 20;

class warp {
 public:
  /// Starts the warp's threads at `entry`. `index` is the number of the warp in `block`.
  void start(launch_state const& launch, interpreter::block& block, unsigned index, lane_mask lanes,
             interpreter::code const& entry);
  /// Runs one turn. `has_run`: set if anything ran.
  turn_end run(bool& has_run);

  [[nodiscard]] lane_mask live() const noexcept { return live_; }
  [[nodiscard]] std::vector<group>& waiting() noexcept { return groups_; }
  [[nodiscard]] std::vector<group> const& waiting() const noexcept { return groups_; }

  // For handlers: these act on the running group.
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
    auto& predicate = predicates_[operand >> 1];
    predicate = (predicate & ~mask) | (bits & mask);
  }
  [[nodiscard]] lane_mask active() const noexcept { return running_.lanes; }
  [[nodiscard]] frame& current() const noexcept { return *running_.frame; }
  [[nodiscard]] std::byte* local(unsigned lane, std::uint32_t offset) const noexcept
  {
    return local_ + std::size_t{lane} * local_bytes_ + offset;
  }
  [[nodiscard]] interpreter::block& block() const noexcept { return *block_; }
  [[nodiscard]] launch_state const& launch() const noexcept { return *launch_; }
  [[nodiscard]] unsigned index() const noexcept { return index_; }

  /// The lanes of `mask` continue at `target`, the others of the group at the next operation.
  void branch(lane_mask mask, std::uint32_t target);
  void call(lane_mask mask, interpreter::code const& callee, call_site const& site);
  /// Like call(); the lanes `postponed` execute the same operation again afterwards.
  void call_some(lane_mask mask, lane_mask postponed, interpreter::code const& callee,
                 call_site const& site);
  void yield_turn() noexcept  ///< lets the other groups and warps run
  {
    yields_ = true;
    stop_before_ = 0;
  }
  /// Tells that `op` read values that other threads may change.
  void note_poll(operation const& op, poll_digest const& digest) noexcept
  {
    auto const slot = reinterpret_cast<std::uintptr_t>(&op) / sizeof(operation) % polled_.size();
    auto& entry = polled_[slot];
    if (entry.op != &op || entry.digest.number != digest.number) {
      entry = {&op, digest, 0};
      return;
    }
    ++polls_;
    last_poll_ = &entry;
    if (running_.is_polling && polls_ <= k_compared_polls) compare_state(entry);
  }
  void note_poll(operation const& op, std::byte const* element, std::uint64_t value) noexcept
  {
    poll_digest digest;
    digest.add(element, value);
    note_poll(op, digest);
  }
  /// Counts as `operations` more of the budget, for an operation that takes the host so long.
  void charge(std::uint64_t operations) noexcept { charged_ += operations; }
  /// Tells that the group read a clock: it may stop waiting by itself.
  void note_clock() noexcept { reads_clock_ = true; }
  void leave(lane_mask mask);   ///< ret
  void finish(lane_mask mask);  ///< exit
  void wait_at(unsigned barrier, operation const& op, lane_mask mask, bool has_result);
  /// Whether all live lanes of `members` are in `arrived`. If not, the handler returns at once: the
  /// group waits for the others and then executes `op` again, or `op` is complete already, because
  /// the others waited at instructions of the same kind elsewhere.
  bool converged(lane_mask members, lane_mask arrived, operation const& op);
  /// For the race check: the lanes are synchronised now.
  void record_warp_sync() noexcept;
  /// For the race check: records a write to `target`, a result of resolve(). Only global and shared
  /// memory are checked.
  /// `after`: the bytes that are written; null: not known.
  void record_write(std::byte const* target, unsigned size, unsigned lane, operation const& op,
                    std::byte const* after = nullptr);
  void record_read(std::byte const* source, unsigned size, unsigned lane, operation const& op);
  /// For the race check: see race_map.
  void release_accesses(sync_scope scope = sync_scope::device)
  {
    if (checks_races_) [[unlikely]]
      release_to(scope);
  }
  void acquire_accesses(sync_scope scope = sync_scope::device) noexcept
  {
    if (checks_races_) [[unlikely]]
      acquire_from(scope);
  }

  /// The host address of the generic range [address, address + size). Checks bounds and alignment.
  /// @throws code_error (address) naming the thread and the instruction.
  std::byte* resolve(std::uint64_t address, unsigned size, unsigned lane, operation const& op,
                     bool writes);
  std::byte* resolve_shared(std::uint64_t offset, unsigned size, unsigned lane, operation const& op,
                            bool writes);
  std::byte* resolve_local(std::uint64_t address, unsigned size, unsigned lane, operation const& op,
                           bool writes);
  /// The memory that holds a generic address, and what is next to it. `op` is where to remember it.
  [[nodiscard]] memory_span const& span_at(operation const& op, std::uint64_t address)
  {
    auto const slot = reinterpret_cast<std::uintptr_t>(&op) / sizeof(operation) % spans_.size();
    auto& span = spans_[slot];
    if (!span.holds(address)) [[unlikely]]
      span = find_span(address);
    return span;
  }
  /// The part of the threads' local memory that holds an address of .local.
  [[nodiscard]] memory_span local_span_at(std::uint64_t address) const noexcept;
  /// Whether accesses are checked one by one: for races, or reads of uninitialised memory.
  [[nodiscard]] bool checks_accesses() const noexcept { return checks_accesses_; }
  /// The text at a generic address, up to its NUL or k_max_text.
  std::string text_at(std::uint64_t address, unsigned lane, operation const& op);
  /// @throws code_error that names the kernel, the thread and the instruction.
  [[noreturn]] void fail(error_kind kind, std::string const& reason, unsigned lane,
                         operation const& op, std::string const& hint = {}) const;
  /// Like fail(), for lanes of `function` that are not running.
  [[noreturn]] void fail_in(interpreter::code const& function, error_kind kind,
                            std::string const& reason, unsigned lane, operation const& op,
                            std::string const& hint = {}) const;

  lane_mask carry = 0;          ///< the condition code's carry, one bit for each lane; 1: no borrow
  std::uint64_t last_sync = 0;  ///< the block's clock at the last bar.warp.sync
  thread_stacks stacks;         ///< of alloca
  // For the race check.
  std::uint64_t released_to_block = 0;   ///< accesses of the block at the last release
  std::uint64_t released_to_device = 0;  ///< the same
  std::uint64_t acquired = 0;            ///< the launch's tick at the last acquire
  pending_copies copies;                 ///< of cp.async
  lane_mask cluster_arrivals = 0;        ///< at the cluster's barrier, whose phase is not complete
  std::uint64_t executed = 0;            ///< instructions, counted for each lane of the group

 private:
  byte_history* history_of(std::byte const* place);
  void release_to(sync_scope scope);
  void acquire_from(sync_scope scope) noexcept;
  static constexpr std::uint32_t k_compared_polls = 4;  // in a turn

  /// Continues at `target` of another frame: the loop adds 1 to the program counter, then selects.
  void jump(std::uint32_t target) noexcept
  {
    running_.pc = target - 1;
    stop_before_ = 0;
  }
  bool select();
  void run_group();
  void begin_turn() noexcept;
  void end_turn();
  void compare_state(poll_record& entry) noexcept;
  [[nodiscard]] std::uint64_t state_digest() const noexcept;
  [[nodiscard]] std::uint64_t charge_of(std::uint64_t spent, bool is_idle) const noexcept;
  [[nodiscard]] std::string reason_of_waiting() const;
  bool meet_elsewhere(lane_mask missing, lane_mask arrived, operation const& op);
  void merge_groups();
  [[nodiscard]] group* choose();
  void enter(frame* frame) noexcept;
  void add_group(lane_mask lanes, std::uint32_t pc, frame* frame, group_state state);
  frame* new_frame(interpreter::code const& function, lane_mask lanes);
  void drop_lanes(frame* frame, lane_mask lanes);
  [[noreturn]] void fail_address(char const* verb, std::uint64_t address, unsigned size,
                                 std::string const& reason, unsigned lane,
                                 operation const& op) const;
  std::byte* resolve_window(std::uint64_t address, unsigned size, unsigned lane,
                            operation const& op, bool writes);

  /// @throws code_error (uninitialized) a byte of `place` is not written.
  void check_written(shared_place const& place, unsigned size, unsigned lane,
                     operation const& op) const;
  [[nodiscard]] memory_span find_span(std::uint64_t address) const noexcept;

  group running_;
  std::byte* registers_ = nullptr;
  std::byte* constants_ = nullptr;
  std::uint32_t* predicates_ = nullptr;
  std::byte* local_ = nullptr;
  std::uint32_t local_bytes_ = 0;
  std::uint32_t stop_before_ = 0;  ///< at this pc the loop selects a group again
  std::uint32_t turn_ = 0;         ///< operations until the turn ends
  std::uint32_t turn_begin_ = 0;   ///< operations of the turn
  std::uint32_t turn_length_ = 0;  ///< of a group that does not poll
  bool rotate_ = false;
  bool turn_is_over_ = true;
  bool yields_ = false;
  bool reads_clock_ = false;
  bool repeats_ =
      false;  ///< in this turn, a poll found all registers as they were at an earlier one
  bool has_polled_ = false;  ///< in the turn that ended
  std::uint32_t polls_ = 0;  ///< repeated reads in this turn
  std::array<poll_record, 8> polled_ = {};
  poll_record const* last_poll_ = nullptr;
  std::uint64_t issued_ = 0;   ///< operations of all groups, and what waiting counts as
  std::uint64_t charged_ = 0;  ///< since the last turn
  std::uint64_t turns_ = 0;
  region const* last_region_ = nullptr;
  std::array<memory_span, 8> spans_ = {};
  bool checks_races_ = false;
  bool checks_accesses_ = false;

  lane_mask live_ = 0;
  unsigned index_ = 0;
  interpreter::block* block_ = nullptr;
  launch_state const* launch_ = nullptr;
  std::vector<group> groups_;
  std::vector<std::unique_ptr<frame>> frames_;
  std::map<unsigned, std::vector<frame*>> spare_frames_;  ///< for reuse, by code::index
};

}  // namespace fatlink::interpreter
