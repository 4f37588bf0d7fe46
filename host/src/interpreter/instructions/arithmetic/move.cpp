// SPDX-License-Identifier: Apache-2.0
// mov, also packing and unpacking of registers. Source: PTX ISA 9.0, "mov".
#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

using syntax::operand_kind;

template <typename T>
void copy_register(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) { store(d, i, load<T>(a, i)); });
}

void copy_predicate(warp& w, operation const& o, lane_mask mask)
{
  w.set_predicate(o.d, w.predicate(o.a), mask);
}

/// 128 bits.
struct quad {
  std::uint64_t low;
  std::uint64_t high;
};

/// A register that holds a part T: of 8 bits, in 16.
template <typename T>
using part_register = std::conditional_t<sizeof(T) == 1, std::uint16_t, T>;

/// Reads a part of a wider register: at byte `immediate` of each lane, which has `flags` bytes.
template <typename T>
void take_part(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a) + o.immediate;
  each_lane(mask, [=](unsigned i) {
    T value;
    std::memcpy(&value, a + i * o.flags, sizeof(T));
    store<part_register<T>>(d, i, value);
  });
}

/// Writes a part of a wider register.
template <typename T>
void put_part(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d) + o.immediate;
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    auto const value = static_cast<T>(load<part_register<T>>(a, i));
    std::memcpy(d + i * o.flags, &value, sizeof(T));
  });
}

template <typename T>
void add_constant(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const addend = static_cast<T>(o.immediate);
  each_lane(mask, [=](unsigned i) { store<T>(d, i, static_cast<T>(load<T>(a, i) + addend)); });
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
    case 1:
      return type::b8;
    case 2:
      return type::b16;
    case 4:
      return type::b32;
    case 8:
      return type::b64;
    default:
      d.fail_unsupported();
  }
}

/// A handler for values of 2 to 16 bytes.
handler copy_of(decoding const& d, unsigned width)
{
  if (width == sizeof(quad)) return for_host<&copy_register<quad>>();
  return for_bits(d, width, []<typename T>() -> handler { return for_host<&copy_register<T>>(); });
}

unsigned part_width(decoding const& d, type type, syntax::operand const& parts)
{
  auto const count = static_cast<unsigned>(parts.parts.size());
  if (count != 2 && count != 4) d.fail_unsupported("neither two nor four parts");
  return size_of(type) / count;
}

/// %tid as {%tid.x, %tid.y, %tid.z, 0}.
syntax::operand list_elements(syntax::operand const& special)
{
  syntax::operand vector;
  vector.kind = operand_kind::vector;
  for (auto const* const suffix : {".x", ".y", ".z"})
    vector.parts.emplace_back(special).name += suffix;
  vector.parts.emplace_back().kind = operand_kind::integer;
  return vector;
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
    auto& o = d.emit(width == 1 ? for_host<&put_part<std::uint8_t>>()
                                : for_bits(d, width, []<typename T>() -> handler {
                                    return for_host<&put_part<T>>();
                                  }));
    o.d = packed;
    o.a = a;
    o.immediate = i * width;
    o.flags = size_of(type);
  }
  auto const result = d.destination(0, type);
  auto& o = d.emit(copy_of(d, size_of(type)));
  o.d = result;
  o.a = packed;
}

void decode_unpack(decoding& d, type type, syntax::operand const& parts)
{
  auto const width = part_width(d, type, parts);
  auto const part_type = bits_type(d, width);
  auto const a = d.source(1, type);
  auto const copied = d.new_register(size_of(type));  // not `a`, which may be one of the parts
  auto& whole_copy = d.emit(copy_of(d, size_of(type)));
  whole_copy.d = copied;
  whole_copy.a = a;
  for (unsigned i = 0; i < parts.parts.size(); ++i) {
    auto const result = d.destination(parts.parts[i], part_type);
    auto& o = d.emit(width == 1 ? for_host<&take_part<std::uint8_t>>()
                                : for_bits(d, width, []<typename T>() -> handler {
                                    return for_host<&take_part<T>>();
                                  }));
    o.d = result;
    o.a = copied;
    o.immediate = i * width;
    o.flags = size_of(type);
  }
}

/// mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid: all elements are read before one is written.
void decode_vector(decoding& d, type type, unsigned count)
{
  auto source = d.operand(1);
  if (source.kind == operand_kind::special) source = list_elements(source);
  auto const& target = d.operand(0);
  auto const is_vector = [count](syntax::operand const& operand) {
    return operand.kind == operand_kind::vector && operand.parts.size() == count;
  };
  if (!is_vector(source) || !is_vector(target)) d.reject("the vectors have other lengths");
  std::vector<operand_offset> copies;
  for (auto const& part : source.parts) {
    auto const a = d.source(part, type);
    auto& o = d.emit(copy_of(d, size_of(type)));
    o.a = a;
    o.d = copies.emplace_back(d.new_register(size_of(type)));
  }
  for (unsigned i = 0; i < count; ++i) {
    auto const result = d.destination(target.parts[i], type);
    auto& o = d.emit(copy_of(d, size_of(type)));
    o.a = copies[i];
    o.d = result;
  }
}

void decode_mov(decoding& d)
{
  auto const count = d.take("v2") ? 2U : d.take("v4") ? 4U : 1U;
  auto const type = d.take_type();
  d.expect_count(2, 2);
  if (count > 1) return decode_vector(d, type, count);
  if (type == type::pred) {
    auto const a = d.predicate(1);
    auto const result = d.predicate_destination(d.operand(0));
    auto& o = d.emit(for_host<&copy_predicate>());
    o.d = result;
    o.a = a;
    return;
  }
  if (d.operand(1).kind == operand_kind::vector) return decode_pack(d, type, d.operand(1));
  if (d.operand(0).kind == operand_kind::vector) return decode_unpack(d, type, d.operand(0));
  auto const a = d.source(1, type);
  auto const result = d.destination(0, type);
  auto& o = d.emit(copy_of(d, size_of(type)));
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

void emit_sum(decoding& d, operand_offset a, std::uint64_t addend, operand_offset result,
              unsigned width)
{
  auto& o = d.emit(
      for_bits(d, width, []<typename T>() -> handler { return for_host<&add_constant<T>>(); }));
  o.d = result;
  o.a = a;
  o.immediate = addend;
}

void add_move(decode_table& table)
{
  table["mov"] = &decode_mov;
}

}  // namespace fatlink::interpreter
