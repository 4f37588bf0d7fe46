// SPDX-License-Identifier: Apache-2.0
// Special registers: their names, what they hold, and how they are read. Source: PTX ISA 9.0,
// "Special Registers".
#include <array>
#include <chrono>
#include <cstdint>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

/// What a special register reads; in operation::immediate.
enum class special : std::uint64_t {
  // Along an axis:
  tid,
  ntid,
  ctaid,
  nctaid,
  cluster,
  cluster_count,
  block_in_cluster,
  cluster_size,
  // Without axes:
  laneid,
  warpid,
  nwarpid,
  cluster_rank,
  cluster_blocks,
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
  all_shared,
  workspace_lower,
  workspace_upper,
  reserved_begin,
  reserved_middle,
  reserved_end,
  reserved_bytes,
};

inline std::uint32_t axis_of(dimensions const& index, std::uint32_t axis) noexcept
{
  return axis == 0 ? index.x : axis == 1 ? index.y : index.z;
}

std::uint64_t nanoseconds() noexcept
{
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

std::uint64_t lane_mask_value(special source, unsigned lane) noexcept
{
  auto const bit = std::uint64_t{1} << lane;
  switch (source) {
    case special::lanemask_eq:
      return bit;
    case special::lanemask_le:
      return 2 * bit - 1;
    case special::lanemask_lt:
      return bit - 1;
    case special::lanemask_ge:
      return ~(bit - 1);
    default:
      return ~(2 * bit - 1);
  }
}

/// Places and sizes of the grid, of clusters and of the block, along an axis.
std::uint64_t axis_value(warp const& w, special source, std::uint32_t axis, unsigned lane) noexcept
{
  auto const& launch = w.launch();
  switch (source) {
    case special::tid:
      return axis_of(w.block().thread(w.index(), lane), axis);
    case special::ntid:
      return axis_of(launch.block, axis);
    case special::ctaid:
      return axis_of(w.block().index(), axis);
    case special::nctaid:
      return axis_of(launch.grid, axis);
    case special::cluster:
      return axis_of(w.block().index(), axis) / axis_of(launch.cluster, axis);
    case special::cluster_count:
      return axis_of(launch.grid, axis) / axis_of(launch.cluster, axis);
    case special::block_in_cluster:
      return axis_of(w.block().index(), axis) % axis_of(launch.cluster, axis);
    default:
      return axis_of(launch.cluster, axis);
  }
}

/// Sizes of shared memory, and where the reserved part of it is.
std::uint64_t shared_value(warp const& w, special source) noexcept
{
  auto const total = std::uint64_t{w.launch().static_shared} + w.launch().dynamic_shared;
  switch (source) {
    case special::dynamic_shared:
      return w.launch().dynamic_shared;
    case special::total_shared:
      return total;
    case special::all_shared:
      return total + k_reserved_shared_bytes;
    case special::reserved_begin:
      return w.block().shared_bytes() - k_reserved_shared_bytes;
    case special::reserved_middle:
      return w.block().shared_bytes() - k_reserved_shared_bytes / 2;
    case special::reserved_end:
      return w.block().shared_bytes();
    default:
      return k_reserved_shared_bytes;
  }
}

/// The value in a lane. `axis`: 0 to 2 of a register with axes.
std::uint64_t value_of(warp const& w, special source, std::uint32_t axis, unsigned lane) noexcept
{
  if (source <= special::cluster_size) return axis_value(w, source, axis, lane);
  if (source >= special::lanemask_eq && source <= special::lanemask_gt)
    return lane_mask_value(source, lane);
  switch (source) {
    case special::cluster_rank:
      return w.block().rank();
    case special::cluster_blocks:
      return w.launch().cluster.count();
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
    case special::clock:
    case special::nanoseconds:
      return nanoseconds();
    case special::clock_hi:
    case special::nanoseconds_hi:
      return nanoseconds() >> 32;
    case special::workspace_lower:
      return w.launch().workspace & 0xFFFFFFFFU;
    case special::workspace_upper:
      return w.launch().workspace >> 32;
    default:
      return shared_value(w, source);
  }
}

struct special_name {
  std::string_view word;
  special source;
  bool has_axis = false;
};
// Multiprocessor 0 is the only one.
constexpr std::array k_specials{
    special_name{"%tid", special::tid, true}, special_name{"%ntid", special::ntid, true},
    special_name{"%ctaid", special::ctaid, true}, special_name{"%nctaid", special::nctaid, true},
    special_name{"%clusterid", special::cluster, true},
    special_name{"%nclusterid", special::cluster_count, true},
    special_name{"%cluster_ctaid", special::block_in_cluster, true},
    special_name{"%cluster_nctaid", special::cluster_size, true},
    special_name{"%cluster_ctarank", special::cluster_rank},
    special_name{"%cluster_nctarank", special::cluster_blocks},
    special_name{"%laneid", special::laneid}, special_name{"%warpid", special::warpid},
    special_name{"%nwarpid", special::nwarpid}, special_name{"%smid", special::zero},
    special_name{"%nsmid", special::one}, special_name{"%gridid", special::zero},
    special_name{"%lanemask_eq", special::lanemask_eq},
    special_name{"%lanemask_le", special::lanemask_le},
    special_name{"%lanemask_lt", special::lanemask_lt},
    special_name{"%lanemask_ge", special::lanemask_ge},
    special_name{"%lanemask_gt", special::lanemask_gt}, special_name{"%clock", special::clock},
    special_name{"%clock64", special::clock}, special_name{"%clock_hi", special::clock_hi},
    special_name{"%globaltimer", special::nanoseconds},
    special_name{"%globaltimer_lo", special::nanoseconds},
    special_name{"%globaltimer_hi", special::nanoseconds_hi},
    special_name{"%dynamic_smem_size", special::dynamic_shared},
    special_name{"%total_smem_size", special::total_shared},
    special_name{"%aggr_smem_size", special::all_shared},
    special_name{"%reserved_smem_offset_begin", special::reserved_begin},
    special_name{"%reserved_smem_offset_end", special::reserved_end},
    special_name{"%reserved_smem_offset_cap", special::reserved_bytes},
    special_name{"%reserved_smem_offset_0", special::reserved_begin},
    special_name{"%reserved_smem_offset_1", special::reserved_middle},
    special_name{"%current_graph_exec", special::zero},
    // The driver's: where the barrier of a cooperative grid is.
    special_name{"%envreg1", special::workspace_upper},
    special_name{"%envreg2", special::workspace_lower}};

/// Registers with a number that are 0: what a driver passes, and counters of a profiler.
struct special_family {
  std::string_view prefix;
  unsigned count;
  std::string_view suffix;
};
constexpr std::array k_families{special_family{"%envreg", 32, ""}, special_family{"%pm", 8, ""},
                                special_family{"%pm", 8, "_64"}};

std::string name_in(special_family const& family, unsigned number)
{
  return std::string(family.prefix) + std::to_string(number) + std::string(family.suffix);
}

bool is_in_family(std::string_view name)
{
  for (auto const& numbered : k_families)
    for (unsigned i = 0; i < numbered.count; ++i)
      if (name_in(numbered, i) == name) return true;
  return false;
}

/// %tid: counts from the index of the first lane, because divisions take long.
template <typename T>
void read_thread_index(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const& shape = w.launch().block;
  auto index = w.block().thread(w.index(), 0);
  for (unsigned lane = 0; lane < k_lanes; ++lane) {
    if ((mask >> lane & 1U) != 0) store<T>(d, lane, static_cast<T>(axis_of(index, o.flags)));
    if (++index.x < shape.x) continue;
    index.x = 0;
    if (++index.y < shape.y) continue;
    index.y = 0;
    ++index.z;
  }
}

template <typename T>
void read_special(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const source = static_cast<special>(o.immediate);
  if (source >= special::clock && source <= special::nanoseconds_hi) w.note_clock();
  each_lane(mask,
            [&](unsigned i) { store<T>(d, i, static_cast<T>(value_of(w, source, o.flags, i))); });
}

void read_explicit_cluster(warp& w, operation const& o, lane_mask mask)
{
  w.set_predicate(o.d, w.launch().is_explicit_cluster ? k_all_lanes : 0, mask);
}

constexpr std::string_view k_explicit_cluster = "%is_explicit_cluster";

}  // namespace

std::uint32_t emit_special_predicate(decoding& d, std::string_view name)
{
  if (name != k_explicit_cluster) return k_no_operand;
  auto const result = d.new_predicate();
  d.emit(&read_explicit_cluster).d = result;
  return result;
}

std::vector<std::string> special_registers()
{
  std::vector<std::string> names{std::string(k_explicit_cluster)};
  for (auto const& entry : k_specials)
    if (entry.has_axis)
      for (auto const* axis : {".x", ".y", ".z"}) names.push_back(std::string(entry.word) + axis);
    else
      names.emplace_back(entry.word);
  for (auto const& numbered : k_families)
    for (unsigned i = 0; i < numbered.count; ++i)
      if (auto const name = name_in(numbered, i); name != "%envreg1" && name != "%envreg2")
        names.push_back(name);
  return names;
}

namespace {

void emit_read(decoding& d, special source, std::uint32_t axis, operand_offset result,
               unsigned width)
{
  d.result().is_cooperative |=
      source == special::workspace_lower || source == special::workspace_upper;
  d.result().uses_reserved_shared |= source >= special::reserved_begin;
  auto& o = d.emit(for_bits(d, width, [=]<typename T>() -> handler {
    if (source == special::tid) return for_host<&read_thread_index<T>>();
    return for_host<&read_special<T>>();
  }));
  o.d = result;
  o.flags = axis;
  o.immediate = static_cast<std::uint64_t>(source);
}

}  // namespace

bool emit_special(decoding& d, std::string_view name, operand_offset result, unsigned width)
{
  std::uint32_t axis = 0;
  auto word = name;
  auto const has_axis =
      name.size() > 2 && name[name.size() - 2] == '.' && name.back() >= 'w' && name.back() <= 'z';
  auto const is_fourth = has_axis && name.back() == 'w';  // always 0
  if (has_axis) {
    axis = is_fourth ? 0 : static_cast<std::uint32_t>(name.back() - 'x');
    word.remove_suffix(2);
  }
  for (auto const& entry : k_specials) {
    if (entry.word != word || entry.has_axis != has_axis) continue;
    emit_read(d, is_fourth ? special::zero : entry.source, axis, result, width);
    return true;
  }
  if (!is_in_family(name)) return false;
  emit_read(d, special::zero, 0, result, width);
  return true;
}

}  // namespace fatlink::interpreter
