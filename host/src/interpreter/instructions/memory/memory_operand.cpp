// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/memory/memory_operand.hpp"

#include <utility>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {

namespace {

/// Whether `operand` is an address at the name of a .shared variable.
bool names_shared(decoding const& d, syntax::operand const& operand)
{
  using syntax::operand_kind;
  if (operand.kind != operand_kind::address || operand.parts.empty()) return false;
  auto const& base = operand.parts[0];
  if (base.kind == operand_kind::variable)
    return d.function().variables[base.index].space == space::shared;
  auto const* const meaning = base.kind == operand_kind::symbol ? d.find(base.name) : nullptr;
  if (meaning == nullptr) return false;
  return meaning->kind == entity_kind::dynamic_shared ||
         (meaning->kind == entity_kind::variable &&
          d.modules().variables[meaning->index].syntax->space == space::shared);
}

/// Without a stated space: ptxas takes the space of a .shared variable from its name.
space space_of_name(decoding const& d)
{
  for (std::size_t i = 0; i < d.count(); ++i)
    if (names_shared(d, d.operand(i))) return space::shared;
  return space::generic;
}

/// immediate: the upper half of the addresses.
void widen_address(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) { store(d, i, o.immediate + load<std::uint32_t>(a, i)); });
}

/// The address of 64 bits for one of 32 bits in `space`.
operand_offset widened_base(decoding& d, operand_offset address, space space)
{
  auto const upper = d.upper_half_of(space);
  if (!upper) d.refuse("an address of 32 bits outside of .shared, .local and .const");
  auto const result = d.new_register(sizeof(std::uint64_t));
  auto& o = d.emit(&widen_address);
  o.d = result;
  o.a = address;
  o.immediate = *upper;
  return result;
}

}  // namespace

memory_order take_order(decoding& d)
{
  if (d.take("relaxed")) return memory_order::relaxed;
  if (d.take("acquire")) return memory_order::acquire;
  return d.take("release") ? memory_order::release : memory_order::weak;
}

void take_scope(decoding& d)
{
  for (auto const* scope : {"cta", "gpu", "sys", "cluster"}) (void)d.take(scope);
}

space take_space(decoding& d)
{
  // The first of several: "cp.async.ca.shared.global".
  if (auto const stated = ptx::parse_space(d.next_word())) {
    (void)d.take_next();
    return *stated;
  }
  for (auto const* const word : {"global", "shared", "shared::cta", "shared::cluster", "const",
                                 "local", "param", "param::entry", "param::func"})
    if (d.take(word)) return *ptx::parse_space(word);
  return space_of_name(d);
}

computed_address decode_address(decoding& d, syntax::operand const& address, space space)
{
  if (address.kind != syntax::operand_kind::address) d.refuse("no address");
  computed_address result;
  result.offset = static_cast<std::uint64_t>(address.offset);
  if (address.parts.empty()) return result;
  auto const& base = address.parts[0];
  if (d.is_register(base)) result.width = d.width_of(base);
  if (result.width != 4 && result.width != 8) d.refuse("an address that is neither 32 nor 64 bits");
  result.base = d.source(base, result.width == 4 ? type::b32 : type::b64);
  if (result.width == 4 && space != space::shared) {
    result.base = widened_base(d, result.base, space);
    result.width = 8;
  }
  return result;
}

std::vector<syntax::operand> elements_of(syntax::operand const& operand)
{
  if (operand.kind == syntax::operand_kind::vector) return operand.parts;
  return {operand};
}

unsigned take_element_count(decoding& d)
{
  for (auto const& [word, count] : {std::pair{"v2", 2U}, {"v4", 4U}, {"v8", 8U}})
    if (d.take(word)) return count;
  return 1;
}

}  // namespace fatlink::interpreter
