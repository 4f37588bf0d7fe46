// SPDX-License-Identifier: Apache-2.0
// mov, also packing and unpacking of registers. Source: PTX ISA 9.0, "mov".
#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

template <typename T>
void copy(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) { store(d, i, load<T>(a, i)); });
}

void copy_predicate(warp& w, operation const& o, lane_mask mask)
{
  w.set_predicate(o.d, w.predicate(o.a), mask);
}

/// Reads a part of a wider register: at byte `immediate` of each lane, which has `flags` bytes.
template <typename T>
void take_part(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a) + o.immediate;
  each_lane(mask, [=](unsigned i) {
    T value;
    std::memcpy(&value, a + i * o.flags, sizeof(T));
    store(d, i, value);
  });
}

/// Writes a part of a wider register.
template <typename T>
void put_part(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d) + o.immediate;
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    auto const value = load<T>(a, i);
    std::memcpy(d + i * o.flags, &value, sizeof(T));
  });
}

template <typename T>
void local_address(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const address = k_local_window + w.current().local_base + o.immediate;
  each_lane(mask, [=](unsigned i) { store<T>(d, i, static_cast<T>(address)); });
}

type bits_type(decoding const& d, unsigned width)
{
  switch (width) {
    case 2:
      return type::b16;
    case 4:
      return type::b32;
    case 8:
      return type::b64;
    default:
      d.refuse();
  }
}

unsigned part_width(decoding const& d, type type, syntax::operand const& parts)
{
  auto const count = static_cast<unsigned>(parts.parts.size());
  if (count != 2 && count != 4) d.refuse("neither two nor four parts");
  return size_of(type) / count;
}

/// mov.b64 %rd, {%r1, %r2}: the first part becomes the lowest bits.
void decode_pack(decoding& d, type type, syntax::operand const& parts)
{
  auto const width = part_width(d, type, parts);
  auto const part_type = bits_type(d, width);
  auto const packed =
      d.new_register(size_of(type));  // not the result, which may be one of the parts
  for (unsigned i = 0; i < parts.parts.size(); ++i) {
    auto const a = d.source(parts.parts[i], part_type);
    auto& o = d.emit(
        for_bits(d, width, []<typename T>() -> handler { return for_host<&put_part<T>>(); }));
    o.d = packed;
    o.a = a;
    o.immediate = i * width;
    o.flags = size_of(type);
  }
  auto const result = d.destination(0, type);
  auto& o = d.emit(
      for_bits(d, size_of(type), []<typename T>() -> handler { return for_host<&copy<T>>(); }));
  o.d = result;
  o.a = packed;
}

void decode_unpack(decoding& d, type type, syntax::operand const& parts)
{
  auto const width = part_width(d, type, parts);
  auto const part_type = bits_type(d, width);
  auto const a = d.source(1, type);
  auto const copied = d.new_register(size_of(type));  // not `a`, which may be one of the parts
  auto& whole_copy = d.emit(
      for_bits(d, size_of(type), []<typename T>() -> handler { return for_host<&copy<T>>(); }));
  whole_copy.d = copied;
  whole_copy.a = a;
  for (unsigned i = 0; i < parts.parts.size(); ++i) {
    auto const result = d.destination(parts.parts[i], part_type);
    auto& o = d.emit(
        for_bits(d, width, []<typename T>() -> handler { return for_host<&take_part<T>>(); }));
    o.d = result;
    o.a = copied;
    o.immediate = i * width;
    o.flags = size_of(type);
  }
}

void decode_mov(decoding& d)
{
  auto const type = d.take_type();
  d.expect_count(2, 2);
  if (type == type::pred) {
    auto const a = d.predicate(1);
    auto const result = d.predicate_destination(d.operand(0));
    auto& o = d.emit(for_host<&copy_predicate>());
    o.d = result;
    o.a = a;
    return;
  }
  if (d.operand(1).kind == syntax::operand_kind::vector) return decode_pack(d, type, d.operand(1));
  if (d.operand(0).kind == syntax::operand_kind::vector)
    return decode_unpack(d, type, d.operand(0));
  auto const a = d.source(1, type);
  auto const result = d.destination(0, type);
  auto& o = d.emit(
      for_bits(d, size_of(type), []<typename T>() -> handler { return for_host<&copy<T>>(); }));
  o.d = result;
  o.a = a;
}

}  // namespace

void emit_local_address(decoding& d, std::uint64_t offset, operand_offset result, unsigned width)
{
  auto& o = d.emit(
      for_bits(d, width, []<typename T>() -> handler { return for_host<&local_address<T>>(); }));
  o.d = result;
  o.immediate = offset;
}

void add_move(decode_table& table)
{
  table["mov"] = &decode_mov;
}

}  // namespace fatlink::interpreter
