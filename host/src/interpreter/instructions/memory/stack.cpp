// SPDX-License-Identifier: Apache-2.0
// alloca, stacksave and stackrestore. Source: PTX ISA 9.0, "Stack Manipulation Instructions".
#include <bit>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

/// a: the bytes; immediate: the alignment.
template <typename T>
void allocate(warp& w, operation const& o, lane_mask mask)
{
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto const bytes = load<T>(w.at(o.a), lane);
    auto const offset = w.stacks.allocate(lane, w.current().depth, bytes, o.immediate);
    if (!offset)
      w.fail(fault::address,
             "allocates " + std::to_string(bytes) + " bytes: the thread's stack is full", lane, o);
    store(w.at(o.d), lane, static_cast<T>(k_local_window + *offset));
  }
}

template <typename T>
void save(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  each_lane(mask, [&](unsigned i) { store(d, i, static_cast<T>(w.stacks.top(i))); });
}

template <typename T>
void restore(warp& w, operation const& o, lane_mask mask)
{
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    if (!w.stacks.restore(lane, load<T>(w.at(o.a), lane)))
      w.fail(fault::address, "restores what is not a result of stacksave", lane, o);
  }
}

type take_width(decoding& d)
{
  auto const type = d.take_type();
  if (type != type::u32 && type != type::u64) d.refuse("not a supported type");
  return type;
}

void decode_alloca(decoding& d)
{
  auto const type = take_width(d);
  d.expect_count(2, 3);
  auto const alignment = d.count() == 3 ? d.integer(2) : 8;
  if (!std::has_single_bit(alignment)) d.reject("the alignment is not a power of two");
  auto const a = d.source(1, type);
  auto const result = d.destination(0, type);
  auto& o = d.emit(type == type::u32 ? &allocate<std::uint32_t> : &allocate<std::uint64_t>);
  o.d = result;
  o.a = a;
  o.immediate = alignment;
}

void decode_save(decoding& d)
{
  auto const type = take_width(d);
  d.expect_count(1, 1);
  auto const result = d.destination(0, type);
  d.emit(type == type::u32 ? &save<std::uint32_t> : &save<std::uint64_t>).d = result;
}

void decode_restore(decoding& d)
{
  auto const type = take_width(d);
  d.expect_count(1, 1);
  auto const a = d.source(0, type);
  d.emit(type == type::u32 ? &restore<std::uint32_t> : &restore<std::uint64_t>).a = a;
}

}  // namespace

void add_stack(decode_table& table)
{
  table["alloca"] = &decode_alloca;
  table["stacksave"] = &decode_save;
  table["stackrestore"] = &decode_restore;
}

}  // namespace fatlink::interpreter
