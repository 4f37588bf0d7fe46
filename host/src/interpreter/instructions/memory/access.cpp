// SPDX-License-Identifier: Apache-2.0
// ld and st, of every width and vector, in every state space.
// Source: PTX ISA 9.0, "Data Movement and Conversion Instructions", "atom".
#include "interpreter/instructions/memory/access.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"
#include "util/process/fork_guard.hpp"

namespace fatlink::interpreter {
namespace {

class lock_table {
 public:
  std::mutex& find(std::byte const* place) noexcept
  {
    return mutexes_[reinterpret_cast<std::uintptr_t>(place) / 32 % mutexes_.size()];
  }

 private:
  /// A fork does not wait for accesses: they are those of kernels that the child does not run.
  void renew()
  {
    for (auto& mutex : mutexes_) std::construct_at(&mutex);
  }

  std::array<std::mutex, 64> mutexes_;
  std::mutex unused_;
  detail::fork_guard fork_guard_{detail::fork_order::reference_memory, unused_,
                                 [this] { renew(); }};
};

// Never destroyed: kernels may run while the process ends.
lock_table& access_locks = *new lock_table;

}  // namespace

std::mutex& access_lock(std::byte const* place) noexcept
{
  return access_locks.find(place);
}

namespace {

// Accesses of 128 bits (.b128): ld, st, atom.exch, atom.cas. Each is atomic with respect to the
// others.

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

}  // namespace

void emit_wide_atomic(decoding& d, std::string_view name, space space)
{
  auto const compares = name == "cas";
  if (!compares && name != "exch") d.fail_unsupported("not a supported type");
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

namespace {

using syntax::operand_kind;

/// The modifiers of an access.
struct access {
  ptx::space space = space::generic;
  unsigned count = 1;
  ptx::type type = type::b32;
  ordering order = ordering::none;
  unsigned operands = 2;
  bool releases = false;
};

template <bool Store>
access take_access(decoding& d)
{
  access access;
  access.type = d.take_type();
  if (size_of(access.type) == 0) d.fail_unsupported();
  (void)d.take("weak");
  (void)d.take("mmio");
  auto is_ordered = d.take("volatile");
  auto const order = take_order(d);
  is_ordered |= order != memory_order::weak;
  access.releases = order == memory_order::release;
  take_scope(d);
  is_ordered |= take_cache_hints(d) && !Store;
  access.operands = 2 + take_cache_policy(d);
  access.count = take_element_count(d);
  access.space = take_space(d);
  if (access.count * size_of(access.type) > 32) d.fail_unsupported();
  if (is_ordered) access.order = access.count > 1 ? ordering::vector : ordering::element;
  return access;
}

/// Whether `address` is in a variable of the frame or of the launch, at a constant offset.
bool is_static(decoding const& d, syntax::operand const& address) noexcept
{
  if (address.parts.empty() || address.parts[0].kind != operand_kind::variable) return false;
  auto const space = d.function().variables[address.parts[0].index].space;
  return space == space::param || space == space::local;
}

struct destination {
  operand_offset base = k_no_operand;
  std::uint64_t offset = 0;
  handler run = nullptr;
};

template <bool Store>
destination static_place(decoding& d, access const& access, syntax::operand const& address)
{
  auto const& base = address.parts[0];
  auto const& variable = d.function().variables[base.index];
  auto const slot = d.slot_of(base.index);
  auto const offset = static_cast<std::uint64_t>(address.offset);
  auto const size = std::uint64_t{access.count} * size_of(access.type);
  if (offset > slot.size || size > slot.size - offset) d.reject("outside of " + variable.name);
  if ((slot.offset + offset) % size != 0) d.reject("not aligned to its size");
  auto const is_kernel_parameter = d.is_kernel_parameter(base.index);
  if (is_kernel_parameter && Store) d.reject("writes to a parameter of a kernel");
  return {k_no_operand, slot.offset + offset,
          is_kernel_parameter ? pick<Store, place_parameter>(d, access.type, ordering::none)
                              : pick<Store, place_in_frame>(d, access.type, ordering::none)};
}

template <bool Store>
handler pick_computed(decoding& d, access const& access, unsigned width)
{
  if (access.space == space::shared)
    return width == 4 ? pick<Store, place_shared<std::uint32_t>>(d, access.type, access.order)
                      : pick<Store, place_shared<std::uint64_t>>(d, access.type, access.order);
  if (access.space == space::local)
    return pick<Store, place<space::local>>(d, access.type, ordering::none);
  return pick<Store, place<space::generic>>(d, access.type, access.order);
}

template <bool Store>
destination computed_place(decoding& d, access const& access, syntax::operand const& operand)
{
  auto const address = decode_address(d, operand, access.space);
  return {address.base, address.offset, pick_computed<Store>(d, access, address.width)};
}

/// The registers that are read or written, and the bytes of a lane of each.
struct elements {
  std::vector<operand_offset> registers = {};
  unsigned stride = 0;
};

template <bool Store>
elements take_elements(decoding& d, access const& access, syntax::operand const& operand)
{
  auto const parts = elements_of(operand);
  if (parts.size() != access.count) d.reject("the vector has another length");
  auto width = std::max(size_of(access.type), 2U);
  for (auto const& part : parts) width = std::max(width, d.width_of(part));
  auto const register_type = width == 8 ? type::b64 : width == 4 ? type::b32 : type::b16;
  auto const source_type = size_of(access.type) == width ? access.type : register_type;
  elements elements;
  elements.stride = width;
  for (auto const& part : parts)
    elements.registers.push_back(Store ? d.source(part, source_type)
                                       : d.destination(part, register_type));
  return elements;
}

/// Copies the register of the address where the load writes it before it reads the last element.
void keep_address(decoding& d, destination& target, elements const& elements, unsigned width)
{
  auto const& registers = elements.registers;
  if (std::find(registers.begin(), registers.end(), target.base) == registers.end()) return;
  auto const copy = d.new_register(width);
  emit_sum(d, target.base, 0, copy, width);
  target.base = copy;
}

template <bool Store>
void decode_access(decoding& d)
{
  if (Store && d.take("async")) return decode_async_store(d);
  if (d.last_word() == "b128") return decode_wide_access(d, Store);
  auto const access = take_access<Store>(d);
  d.expect_count(access.operands, access.operands);
  auto const& address = d.operand(Store ? 0 : 1);
  auto const elements = take_elements<Store>(d, access, d.operand(Store ? 1 : 0));
  auto target = is_static(d, address) ? static_place<Store>(d, access, address)
                                      : computed_place<Store>(d, access, address);
  if (!Store && access.count > 1) keep_address(d, target, elements, elements.stride);
  auto const list = d.add_list(elements.registers);
  auto& o = d.emit(target.run);
  o.d = list;
  o.a = target.base;
  o.immediate = target.offset;
  o.flags = pack_shape(access.count, elements.stride) | (access.releases ? k_releases : 0U);
}

void predicate_to_number(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const bits = w.predicate(o.a);
  each_lane(mask, [=](unsigned i) { store(d, i, std::uint32_t{bits >> i & 1U}); });
}

void number_to_predicate(warp& w, operation const& o, lane_mask mask)
{
  auto const* const a = w.at(o.a);
  lane_mask bits = 0;
  for (unsigned i = 0; i < k_lanes; ++i)
    if (load<std::uint32_t>(a, i) != 0) bits |= 1U << i;
  w.set_predicate(o.d, bits, mask);
}

}  // namespace

void emit_frame_access(decoding& d, bool is_store, type type, operand_offset register_, slot place)
{
  auto const list = d.add_list({register_});
  auto& o = d.emit(is_store ? pick<true, place_in_frame>(d, type, ordering::none)
                            : pick<false, place_in_frame>(d, type, ordering::none));
  o.d = list;
  o.immediate = place.offset;
  o.flags = pack_shape(1, std::max(size_of(type), 2U));
}

void emit_predicate_access(decoding& d, bool is_store, std::uint32_t predicate, slot place)
{
  auto const number = d.new_register(sizeof(std::uint32_t));
  if (is_store) {
    auto& o = d.emit(&predicate_to_number);
    o.d = number;
    o.a = predicate;
  }
  emit_frame_access(d, is_store, type::b32, number, place);
  if (is_store) return;
  auto& o = d.emit(&number_to_predicate);
  o.d = predicate;
  o.a = number;
}

void add_access(decode_table& table)
{
  table["ld"] = &decode_access<false>;
  table["ldu"] = &decode_access<false>;
  table["st"] = &decode_access<true>;
}

}  // namespace fatlink::interpreter
