// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/memory/memory_operand.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "interpreter/decode/address_space.hpp"
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
  if (!upper) d.fail_unsupported("an address of 32 bits outside of .shared, .local and .const");
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
  if (address.kind != syntax::operand_kind::address) d.fail_unsupported("no address");
  computed_address result;
  result.offset = static_cast<std::uint64_t>(address.offset);
  if (address.parts.empty()) return result;
  auto const& base = address.parts[0];
  if (d.is_register(base)) result.width = d.width_of(base);
  if (result.width != 4 && result.width != 8)
    d.fail_unsupported("an address that is neither 32 nor 64 bits");
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

namespace {

/// immediate: the offset, and the window of the state space.
void add_offset(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) { store(d, i, load<std::uint64_t>(a, i) + o.immediate); });
}

/// An offset of 32 bits in shared memory: the sum has 32 bits, too.
void add_shared_offset(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const offset = static_cast<std::uint32_t>(o.immediate);
  each_lane(mask, [=](unsigned i) {
    store(d, i, k_shared_window + std::uint64_t{load<std::uint32_t>(a, i) + offset});
  });
}

}  // namespace

operand_offset emit_generic_address(decoding& d, syntax::operand const& address, space space)
{
  auto const parts = decode_address(d, address, space);
  auto const window = space == space::shared ? k_shared_window : 0;
  if (parts.base == k_no_operand) return d.constant(window + parts.offset, 8);
  auto const result = d.new_register(8);
  auto const is_narrow = parts.width == 4;
  auto& o = d.emit(is_narrow ? &add_shared_offset : &add_offset);
  o.d = result;
  o.a = parts.base;
  o.immediate = parts.offset + (is_narrow ? 0 : window);
  return result;
}

bool take_eviction_priority(decoding& d, std::string_view level)
{
  static constexpr std::array<std::string_view, 5> k_priorities{
      "evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate"};
  return std::any_of(k_priorities.begin(), k_priorities.end(), [&](auto const priority) {
    return d.take(std::string(level).append("::").append(priority));
  });
}

bool take_cache_hints(decoding& d)
{
  auto const is_fresh = d.take("cv") || d.take("cg");
  for (auto const* word : {"ca", "cs", "lu", "wb", "wt", "nc", "L2::64B", "L2::128B", "L2::256B"})
    (void)d.take(word);
  (void)take_eviction_priority(d, "L1");
  (void)take_eviction_priority(d, "L2");
  return is_fresh;
}

unsigned take_cache_policy(decoding& d)
{
  if (!d.take("L2::cache_hint")) return 0;
  if (d.count() == 0) d.fail_unsupported("too few operands");
  (void)d.source(d.count() - 1, type::b64);
  return 1;
}

}  // namespace fatlink::interpreter
