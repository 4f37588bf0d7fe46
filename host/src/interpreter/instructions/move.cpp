// SPDX-License-Identifier: Apache-2.0
// mov, with packing and unpacking, and special registers. Source: PTX ISA 9.0, "mov", "Special
// Registers".
#include <array>
#include <chrono>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
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

/// One part of a wider register, at byte `immediate` of its lane, which is `flags` wide.
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

/// In operation::immediate.
enum class special : std::uint64_t {
  tid,
  ntid,
  ctaid,
  nctaid,
  laneid,
  warpid,
  nwarpid,
  one,
  zero,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  nanoseconds,
  nanoseconds_hi,
  dynamic_shared,
  total_shared,
};

struct special_name {
  std::string_view word;
  special is;
  bool has_axis = false;
};
// Clusters are of one block each. One multiprocessor, of number 0, runs everything.
constexpr std::array k_specials{special_name{"%tid", special::tid, true},
                                special_name{"%ntid", special::ntid, true},
                                special_name{"%ctaid", special::ctaid, true},
                                special_name{"%nctaid", special::nctaid, true},
                                special_name{"%clusterid", special::ctaid, true},
                                special_name{"%nclusterid", special::nctaid, true},
                                special_name{"%cluster_ctaid", special::zero, true},
                                special_name{"%cluster_nctaid", special::one, true},
                                special_name{"%cluster_ctarank", special::zero},
                                special_name{"%cluster_nctarank", special::one},
                                special_name{"%laneid", special::laneid},
                                special_name{"%warpid", special::warpid},
                                special_name{"%nwarpid", special::nwarpid},
                                special_name{"%smid", special::zero},
                                special_name{"%nsmid", special::one},
                                special_name{"%gridid", special::zero},
                                special_name{"%lanemask_eq", special::lanemask_eq},
                                special_name{"%lanemask_le", special::lanemask_le},
                                special_name{"%lanemask_lt", special::lanemask_lt},
                                special_name{"%lanemask_ge", special::lanemask_ge},
                                special_name{"%lanemask_gt", special::lanemask_gt},
                                special_name{"%clock", special::clock},
                                special_name{"%clock64", special::clock},
                                special_name{"%clock_hi", special::clock_hi},
                                special_name{"%globaltimer", special::nanoseconds},
                                special_name{"%globaltimer_lo", special::nanoseconds},
                                special_name{"%globaltimer_hi", special::nanoseconds_hi},
                                special_name{"%dynamic_smem_size", special::dynamic_shared},
                                special_name{"%total_smem_size", special::total_shared}};

std::uint32_t axis_of(dimensions const& at, std::uint32_t axis) noexcept
{
  return axis == 0 ? at.x : axis == 1 ? at.y : at.z;
}

std::uint64_t nanoseconds() noexcept
{
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

std::uint64_t value_of(warp const& w, operation const& o, unsigned lane) noexcept
{
  auto const bit = std::uint64_t{1} << lane;
  switch (static_cast<special>(o.immediate)) {
    case special::tid:
      return axis_of(w.block().thread(w.index(), lane), o.flags);
    case special::ntid:
      return axis_of(w.launch().block, o.flags);
    case special::ctaid:
      return axis_of(w.block().index(), o.flags);
    case special::nctaid:
      return axis_of(w.launch().grid, o.flags);
    case special::laneid:
      return lane;
    case special::warpid:
      return w.index();
    case special::nwarpid:
      return w.block().warp_count();
    case special::one:
      return 1;
    case special::zero:
      return 0;
    case special::lanemask_eq:
      return bit;
    case special::lanemask_le:
      return 2 * bit - 1;
    case special::lanemask_lt:
      return bit - 1;
    case special::lanemask_ge:
      return ~(bit - 1);
    case special::lanemask_gt:
      return ~(2 * bit - 1);
    case special::clock:
    case special::nanoseconds:
      return nanoseconds();
    case special::clock_hi:
    case special::nanoseconds_hi:
      return nanoseconds() >> 32;
    case special::dynamic_shared:
      return w.launch().dynamic_shared;
    case special::total_shared:
      return w.block().shared_bytes();
  }
  return 0;
}

template <typename T>
void read_special(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  each_lane(mask, [&](unsigned i) { store<T>(d, i, static_cast<T>(value_of(w, o, i))); });
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

unsigned part_width(decoding const& d, type as, syntax::operand const& parts)
{
  auto const count = static_cast<unsigned>(parts.parts.size());
  if (count != 2 && count != 4) d.refuse("neither two nor four parts");
  return size_of(as) / count;
}

/// mov.b64 %rd, {%r1, %r2}: each part after the other, the first lowest.
void decode_pack(decoding& d, type as, syntax::operand const& parts)
{
  auto const width = part_width(d, as, parts);
  auto const part_type = bits_type(d, width);
  auto const packed = d.new_register(size_of(as));  // not `to`, which may be among the parts
  for (unsigned i = 0; i < parts.parts.size(); ++i) {
    auto const a = d.source(parts.parts[i], part_type);
    auto& o = d.emit(for_bits(d, width, []<typename T>() -> handler { return &put_part<T>; }));
    o.d = packed;
    o.a = a;
    o.immediate = i * width;
    o.flags = size_of(as);
  }
  auto const to = d.destination(0, as);
  auto& o = d.emit(for_bits(d, size_of(as), []<typename T>() -> handler { return &copy<T>; }));
  o.d = to;
  o.a = packed;
}

void decode_unpack(decoding& d, type as, syntax::operand const& parts)
{
  auto const width = part_width(d, as, parts);
  auto const part_type = bits_type(d, width);
  auto const a = d.source(1, as);
  auto const held = d.new_register(size_of(as));  // not `a`, which may be among the parts
  auto& first = d.emit(for_bits(d, size_of(as), []<typename T>() -> handler { return &copy<T>; }));
  first.d = held;
  first.a = a;
  for (unsigned i = 0; i < parts.parts.size(); ++i) {
    auto const to = d.destination(parts.parts[i], part_type);
    auto& o = d.emit(for_bits(d, width, []<typename T>() -> handler { return &take_part<T>; }));
    o.d = to;
    o.a = held;
    o.immediate = i * width;
    o.flags = size_of(as);
  }
}

void decode_mov(decoding& d)
{
  auto const as = d.take_type();
  d.expect_count(2, 2);
  if (as == type::pred) {
    auto const a = d.predicate(1);
    auto const to = d.predicate_destination(d.operand(0));
    auto& o = d.emit(&copy_predicate);
    o.d = to;
    o.a = a;
    return;
  }
  if (d.operand(1).kind == syntax::operand_kind::vector) return decode_pack(d, as, d.operand(1));
  if (d.operand(0).kind == syntax::operand_kind::vector) return decode_unpack(d, as, d.operand(0));
  auto const a = d.source(1, as);
  auto const to = d.destination(0, as);
  auto& o = d.emit(for_bits(d, size_of(as), []<typename T>() -> handler { return &copy<T>; }));
  o.d = to;
  o.a = a;
}

}  // namespace

bool emit_special(decoding& d, std::string_view name, operand_offset to, unsigned width)
{
  std::uint32_t axis = 0;
  auto word = name;
  auto const has_axis =
      name.size() > 2 && name[name.size() - 2] == '.' && name.back() >= 'x' && name.back() <= 'z';
  if (has_axis) {
    axis = static_cast<std::uint32_t>(name.back() - 'x');
    word.remove_suffix(2);
  }
  for (auto const& known : k_specials) {
    if (known.word != word || known.has_axis != has_axis) continue;
    auto& o = d.emit(for_bits(d, width, []<typename T>() -> handler { return &read_special<T>; }));
    o.d = to;
    o.flags = axis;
    o.immediate = static_cast<std::uint64_t>(known.is);
    return true;
  }
  return false;
}

void emit_local_address(decoding& d, std::uint64_t offset, operand_offset to, unsigned width)
{
  auto& o = d.emit(for_bits(d, width, []<typename T>() -> handler { return &local_address<T>; }));
  o.d = to;
  o.immediate = offset;
}

void add_move(decode_table& to)
{
  to["mov"] = &decode_mov;
}

}  // namespace fatlink::interpreter
