// SPDX-License-Identifier: Apache-2.0
// atom and red: one atomic read-modify-write of the host for each lane, in the order of the lanes.
// It is also atomic between blocks, which run on different cores. Every memory order is treated as
// the strongest. Source: PTX ISA 9.0, "atom", "red".
#include <type_traits>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/async/async_families.hpp"
#include "interpreter/instructions/atomic_ops.hpp"
#include "interpreter/instructions/cache_hints.hpp"
#include "interpreter/instructions/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

enum atomic_flags : std::uint32_t { k_shared = 1, k_narrow_address = 2, k_releases = 4 };

/// `Op`, or `SharedOp` where a generic address is in shared memory.
template <typename T, typename Op, typename SharedOp = Op>
void atomic(warp& w, operation const& o, lane_mask mask)
{
  auto const* const a = o.a == k_no_operand ? nullptr : w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = o.c == k_no_operand ? nullptr : w.at(o.c);
  auto* const d = o.d == k_no_operand ? nullptr : w.at(o.d);
  bool has_changed = false;  // otherwise it waits, like a lock that is taken
  std::byte const* last_element = nullptr;
  T last{};
  if ((o.flags & k_releases) != 0) w.release_accesses();
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const i = static_cast<unsigned>(std::countr_zero(remaining));
    auto address = o.immediate;
    if (a != nullptr)
      address +=
          (o.flags & k_narrow_address) != 0 ? load<std::uint32_t>(a, i) : load<std::uint64_t>(a, i);
    auto* const element = (o.flags & k_shared) != 0
                              ? w.resolve_shared(address, sizeof(T), i, o, true)
                              : w.resolve(address, sizeof(T), i, o, true);
    auto const operand = load<T>(b, i);
    auto const other = c == nullptr ? T{} : load<T>(c, i);
    auto const is_shared = !std::is_same_v<Op, SharedOp> && w.block().owns_shared(element);
    auto const result = is_shared ? update<T, SharedOp>(element, operand, other)
                                  : update<T, Op>(element, operand, other);
    has_changed |= result.has_changed;
    last_element = element;
    last = result.old;
    if (d != nullptr) store<T>(d, i, result.old);
  }
  w.acquire_accesses();
  if (!has_changed) w.note_poll(o, last_element, static_cast<std::uint64_t>(last));
}

template <typename T, typename Op, typename SharedOp>
struct atomic_of {
  static constexpr handler run = &atomic<T, Op, SharedOp>;
};

template <bool HasResult>
void decode_atomic(decoding& d)
{
  if (!HasResult && d.take("async")) return decode_async_reduction(d);
  auto const type = d.take_type();
  (void)d.take("noftz");
  auto const releases = take_order(d) == memory_order::release || d.take("acq_rel");
  take_scope(d);
  auto const space = take_space(d);
  auto const policy = take_cache_policy(d);
  auto const name = d.take_next();
  auto const run = update_choice<atomic_of>::pick(d, name, type, space);
  constexpr std::size_t k_address = HasResult ? 1 : 0;
  auto const sources = name == "cas" ? 2U : 1U;
  auto const operands = k_address + 1 + sources + policy;
  d.expect_count(operands, operands);

  auto const address = decode_address(d, d.operand(k_address), space);
  auto const b = d.source(k_address + 1, type);
  auto const c = sources == 2 ? d.source(k_address + 2, type) : k_no_operand;
  auto const result = HasResult ? d.destination(0, type) : k_no_operand;
  auto& o = d.emit(run);
  o.d = result;
  o.a = address.base;
  o.b = b;
  o.c = c;
  o.immediate = address.offset;
  o.flags = (space == space::shared ? k_shared : 0U) |
            (address.width == 4 ? k_narrow_address : 0U) | (releases ? k_releases : 0U);
}

}  // namespace

void add_atomic(decode_table& table)
{
  table["atom"] = &decode_atomic<true>;
  table["red"] = &decode_atomic<false>;
}

}  // namespace fatlink::interpreter
