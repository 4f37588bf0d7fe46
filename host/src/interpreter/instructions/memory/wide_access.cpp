// SPDX-License-Identifier: Apache-2.0
// Source: PTX ISA 9.0, "ld", "st", "atom".
#include "interpreter/instructions/memory/wide_access.hpp"

#include <bit>
#include <cstring>
#include <mutex>

#include "interpreter/execution/access_locks.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/memory/cache_hints.hpp"
#include "interpreter/instructions/memory/generic_address.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

struct wide {
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;
  bool operator==(wide const&) const = default;
};
constexpr unsigned k_bytes = sizeof(wide);

std::uint64_t digest_of(wide const& value) noexcept
{
  return value.lower ^ std::rotl(value.upper, 32);
}

/// a: the address; d: the register; flags: 1 if other threads' values are waited for.
void load_wide(warp& w, operation const& o, lane_mask mask)
{
  poll_digest digest;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto const* const source =
        w.resolve(load<std::uint64_t>(w.at(o.a), lane), k_bytes, lane, o, false);
    if (w.checks_accesses() && o.flags == 0) w.record_read(source, k_bytes, lane, o);
    std::lock_guard const lock(access_lock(source));
    auto const value = load<wide>(source, 0);
    store(w.at(o.d), lane, value);
    digest.add(source, digest_of(value));
  }
  if (o.flags == 0) return;
  w.acquire_accesses();
  w.note_poll(o, digest);
}

/// b: the value; flags: 1 if the store is ordered, which also orders earlier accesses.
void store_wide(warp& w, operation const& o, lane_mask mask)
{
  if (o.flags != 0) w.release_accesses();
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto* const target = w.resolve(load<std::uint64_t>(w.at(o.a), lane), k_bytes, lane, o, true);
    if (w.checks_accesses() && o.flags == 0) w.record_write(target, k_bytes, lane, o);
    std::lock_guard const lock(access_lock(target));
    store(target, 0, load<wide>(w.at(o.b), lane));
  }
}

/// b: the new value; c: the value that cas compares with.
template <bool Compares>
void exchange_wide(warp& w, operation const& o, lane_mask mask)
{
  poll_digest digest;
  bool has_changed = false;
  w.release_accesses();
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto* const target = w.resolve(load<std::uint64_t>(w.at(o.a), lane), k_bytes, lane, o, true);
    auto const value = load<wide>(w.at(o.b), lane);
    std::lock_guard const lock(access_lock(target));
    auto const old = load<wide>(target, 0);
    auto const is_equal = !Compares || old == load<wide>(w.at(o.c), lane);
    if (is_equal) store(target, 0, value);
    has_changed |= is_equal && old != value;
    store(w.at(o.d), lane, old);
    digest.add(target, digest_of(old));
  }
  w.acquire_accesses();
  if (!has_changed) w.note_poll(o, digest);
}

/// The generic address of a variable of the function, or of a computed address.
operand_offset take_address(decoding& d, syntax::operand const& address, space space)
{
  auto const is_variable =
      address.kind == syntax::operand_kind::address && !address.parts.empty() &&
      address.parts[0].kind == syntax::operand_kind::variable &&
      (space == space::param || space == space::local || space == space::generic);
  if (!is_variable) return emit_generic_address(d, address, space);
  auto base = address.parts[0];
  base.offset += address.offset;
  return d.source(base, type::b64);
}

}  // namespace

void decode_wide_access(decoding& d, bool stores)
{
  (void)d.take_type();
  (void)d.take("weak");
  auto is_ordered = d.take("volatile");
  (void)d.take("mmio");
  is_ordered |= take_order(d) != memory_order::weak;
  take_scope(d);
  is_ordered |= take_cache_hints(d);
  auto const policy = take_cache_policy(d);
  auto const space = take_space(d);
  d.expect_count(2 + policy, 2 + policy);
  auto const address = take_address(d, d.operand(stores ? 0 : 1), space);
  auto const value = stores ? d.source(1, type::b128) : d.destination(0, type::b128);
  auto& o = d.emit(stores ? &store_wide : &load_wide);
  o.a = address;
  (stores ? o.b : o.d) = value;
  o.flags = is_ordered ? 1 : 0;
}

void emit_wide_atomic(decoding& d, std::string_view name, space space)
{
  auto const compares = name == "cas";
  if (!compares && name != "exch") d.refuse("not a supported type");
  d.expect_count(compares ? 4 : 3, compares ? 4 : 3);
  auto const address = emit_generic_address(d, d.operand(1), space);
  auto const value = d.source(compares ? 3 : 2, type::b128);
  auto const expected = compares ? d.source(2, type::b128) : k_no_operand;
  auto const result = d.destination(0, type::b128);
  auto& o = d.emit(compares ? &exchange_wide<true> : &exchange_wide<false>);
  o.a = address;
  o.b = value;
  o.c = expected;
  o.d = result;
}

}  // namespace fatlink::interpreter
