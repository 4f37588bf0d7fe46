// SPDX-License-Identifier: Apache-2.0
// atom and red: one atomic read-modify-write of the host for each lane, in the order of the lanes.
// It is also atomic between blocks, which run on different cores. Every memory order is treated as
// the strongest. Source: PTX ISA 9.0, "atom", "red".
#include "interpreter/instructions/memory/atomic.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/memory/access.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

enum atomic_flags : std::uint32_t { k_shared = 1, k_narrow_address = 2, k_is_release = 4 };

/// The generic address of a lane.
std::uint64_t address_of(warp& w, operation const& o, unsigned lane)
{
  auto address = o.immediate;
  auto const is_shared = (o.flags & k_shared) != 0;
  if (o.a == k_no_operand) return is_shared ? k_shared_window + address : address;
  if ((o.flags & k_narrow_address) == 0) {
    address += load<std::uint64_t>(w.at(o.a), lane);
    return is_shared ? k_shared_window + address : address;
  }
  return k_shared_window +
         static_cast<std::uint32_t>(address + load<std::uint32_t>(w.at(o.a), lane));
}

/// Where the operation of a lane is made. An address of .shared needs no search for its memory.
std::byte* place_of(warp& w, std::uint64_t address, unsigned size, unsigned lane,
                    operation const& o, bool writes)
{
  if ((o.flags & (k_shared | k_narrow_address)) != 0)
    return w.resolve_shared(address - k_shared_window, size, lane, o, writes);
  return w.resolve(address, size, lane, o, writes);
}

/// The same for all lanes at once, if all their addresses are valid and in one range of memory.
located locate(warp& w, operation const& o, unsigned size, lane_mask mask)
{
  if (o.a == k_no_operand || w.checks_accesses()) return {};
  auto const* const base = w.at(o.a);
  if ((o.flags & k_narrow_address) != 0)
    return place_shared<std::uint32_t>::locate(w, o, base, size, mask, true);
  if ((o.flags & k_shared) != 0)
    return place_shared<std::uint64_t>::locate(w, o, base, size, mask, true);
  return place<space::generic>::locate(w, o, base, size, mask, true);
}

/// What the lanes of an operation update.
struct lane_elements {
  std::array<std::byte*, k_lanes> elements;
  lane_mask shared = 0;  ///< the lanes whose element is in shared memory
};

/// Lane by lane: the first wrong one is named. `reads`: whether the old value has an effect.
[[gnu::noinline]] void find_each(warp& w, operation const& o, lane_mask mask, unsigned size,
                                 bool reads, lane_elements& found)
{
  for (; mask != 0; mask &= mask - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(mask));
    auto const address = address_of(w, o, lane);
    if (reads && w.checks_accesses()) (void)place_of(w, address, size, lane, o, false);
    found.elements[lane] = place_of(w, address, size, lane, o, true);
    if (address - k_shared_window < k_window_size) found.shared |= lane_mask{1} << lane;
  }
}

void find_elements(warp& w, operation const& o, lane_mask mask, unsigned size, bool reads,
                   lane_elements& found)
{
  auto const l = locate(w, o, size, mask);
  if (l.pattern == lane_pattern::invalid) return find_each(w, o, mask, size, reads, found);
  if ((o.flags & (k_shared | k_narrow_address)) != 0 || l.span.begin == k_shared_window)
    found.shared = k_all_lanes;
  auto const is_narrow = (o.flags & k_narrow_address) != 0;
  each_lane(mask, [&](unsigned lane) {
    found.elements[lane] = is_narrow ? element_of<std::uint32_t>(l, o.immediate, lane)
                                     : element_of<std::uint64_t>(l, o.immediate, lane);
  });
}

/// `Op`, or `SharedOp` where a generic address is in shared memory.
template <typename T, typename Op, typename SharedOp = Op>
void atomic(warp& w, operation const& o, lane_mask mask)
{
  auto const* const b = w.at(o.b);
  auto const* const c = o.c == k_no_operand ? nullptr : w.at(o.c);
  auto* const d = o.d == k_no_operand ? nullptr : w.at(o.d);
  bool has_changed = false;  // otherwise it waits, like a lock that is taken
  std::byte const* last_element = nullptr;
  T last{};
  if ((o.flags & k_is_release) != 0) w.release_accesses();
  lane_elements found;
  find_elements(w, o, mask, sizeof(T), !std::is_same_v<Op, op_exchange>, found);
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const i = static_cast<unsigned>(std::countr_zero(remaining));
    auto* const element = found.elements[i];
    auto const operand = load<T>(b, i);
    auto const other = c == nullptr ? T{} : load<T>(c, i);
    auto const is_shared = !std::is_same_v<Op, SharedOp> && (found.shared >> i & 1U) != 0;
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

/// Checks the address of a vector: its elements are updated one by one. immediate: the offset; c:
/// unused; flags: as above, and the bytes of the vector above the low 8 bits.
void check_vector(warp& w, operation const& o, lane_mask mask)
{
  for (; mask != 0; mask &= mask - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(mask));
    (void)w.resolve(address_of(w, o, lane), o.flags >> 8, lane, o, true);
  }
}

struct atomic_form {
  ptx::type type = type::b32;
  ptx::space space = space::generic;
  unsigned count = 1;   ///< elements of the vector
  unsigned policy = 0;  ///< operands
  bool releases = false;
  std::string_view name = {};
};

atomic_form take_form(decoding& d)
{
  atomic_form form;
  form.type = d.take_type();
  take_no_flush(d, form.type);
  form.releases = take_order(d) == memory_order::release || d.take("acq_rel");
  take_scope(d);
  form.count = take_element_count(d);
  form.space = take_space(d);
  form.policy = take_cache_policy(d);
  form.name = d.take_next();
  return form;
}

void set_address(operation& o, computed_address const& address, atomic_form const& form)
{
  o.a = address.base;
  o.immediate = address.offset;
  o.flags = (form.space == space::shared ? k_shared : 0U) |
            (address.width == 4 ? k_narrow_address : 0U) | (form.releases ? k_is_release : 0U);
}

/// The elements of a vector of sources; those that are in `results` are copied, as a result is
/// written before the next element is read.
std::vector<operand_offset> take_sources(decoding& d, syntax::operand const& vector, type type,
                                         std::vector<operand_offset> const& results)
{
  std::vector<operand_offset> sources;
  for (auto const& part : vector.parts) {
    auto source = d.source(part, type);
    if (std::find(results.begin(), results.end(), source) != results.end()) {
      auto const copy = d.new_register(size_of(type));
      emit_sum(d, source, 0, copy, size_of(type));
      source = copy;
    }
    sources.push_back(source);
  }
  return sources;
}

/// A vector is updated element by element, after a check of its address.
template <bool HasResult>
void emit_vector(decoding& d, atomic_form const& form)
{
  constexpr std::size_t k_address = HasResult ? 1 : 0;
  if (!is_float(form.type) || form.type == type::f64 || form.count * size_of(form.type) > 16)
    d.fail_unsupported("not a supported vector");
  d.expect_count(k_address + 2 + form.policy, k_address + 2 + form.policy);
  auto const run = update_choice<atomic_of>::pick(d, form.name, form.type, form.space);
  auto const& vector = d.operand(k_address + 1);
  std::vector<operand_offset> results(form.count, k_no_operand);
  if (vector.parts.size() != form.count || (HasResult && d.operand(0).parts.size() != form.count))
    d.reject("the vector has another length");
  for (unsigned i = 0; HasResult && i < form.count; ++i)
    results[i] = d.destination(d.operand(0).parts[i], form.type);
  auto const sources = take_sources(d, vector, form.type, results);
  auto const address = decode_address(d, d.operand(k_address), form.space);
  auto& check = d.emit(&check_vector);
  set_address(check, address, form);
  check.flags |= form.count * size_of(form.type) << 8;
  for (unsigned i = 0; i < form.count; ++i) {
    auto& o = d.emit(run);
    set_address(o, address, form);
    o.immediate += std::uint64_t{i} * size_of(form.type);
    o.d = results[i];
    o.b = sources[i];
  }
}

template <bool HasResult>
void decode_atomic(decoding& d)
{
  if (!HasResult && d.take("async")) return decode_async_reduction(d);
  auto const form = take_form(d);
  if (form.type == type::b128 && HasResult) return emit_wide_atomic(d, form.name, form.space);
  if (form.count > 1) return emit_vector<HasResult>(d, form);
  auto const run = update_choice<atomic_of>::pick(d, form.name, form.type, form.space);
  constexpr std::size_t k_address = HasResult ? 1 : 0;
  auto const sources = form.name == "cas" ? 2U : 1U;
  auto const operands = k_address + 1 + sources + form.policy;
  d.expect_count(operands, operands);

  auto const address = decode_address(d, d.operand(k_address), form.space);
  auto const b = d.source(k_address + 1, form.type);
  auto const c = sources == 2 ? d.source(k_address + 2, form.type) : k_no_operand;
  auto const result = HasResult ? d.destination(0, form.type) : k_no_operand;
  auto& o = d.emit(run);
  set_address(o, address, form);
  o.d = result;
  o.b = b;
  o.c = c;
}

}  // namespace

void add_atomic(decode_table& table)
{
  table["atom"] = &decode_atomic<true>;
  table["red"] = &decode_atomic<false>;
}

}  // namespace fatlink::interpreter
