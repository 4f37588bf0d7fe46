// SPDX-License-Identifier: Apache-2.0
// ld and st, of every width and vector, in every state space.
// Source: PTX ISA 9.0, "Data Movement and Conversion Instructions".
#include <algorithm>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/instructions/async/async_families.hpp"
#include "interpreter/instructions/memory/access_handlers.hpp"
#include "interpreter/instructions/memory/cache_hints.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"
#include "interpreter/instructions/memory/wide_access.hpp"

namespace fatlink::interpreter {
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
  if (size_of(access.type) == 0) d.refuse();
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
  if (access.count * size_of(access.type) > 32) d.refuse();
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
