// SPDX-License-Identifier: Apache-2.0
// st.async and red.async: stores to shared memory that an mbarrier counts. They are complete at
// once. Source: PTX ISA 9.0, "st.async", "red.async".
#include <bit>

#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/async/async_families.hpp"
#include "interpreter/instructions/async/mbarrier_object.hpp"
#include "interpreter/instructions/memory/atomic_ops.hpp"
#include "interpreter/instructions/memory/generic_address.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

/// a: the address; b: the mbarrier; d: the list of sources; flags: their number; immediate: the
/// bytes of each.
template <typename T>
void store_async(warp& w, operation const& o, lane_mask mask)
{
  auto const* const list = w.current().code->lists.data() + o.d;
  auto const size = static_cast<unsigned>(sizeof(T)) * o.flags;
  for (; mask != 0; mask &= mask - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(mask));
    auto* const target = w.resolve(load<std::uint64_t>(w.at(o.a), lane), size, lane, o, true);
    if (w.checks_accesses()) w.record_write(target, size, lane, o);
    for (unsigned k = 0; k < o.flags; ++k) store(target, k, load<T>(w.at(list[k]), lane));
    mbarrier_object(w, o, lane, load<std::uint64_t>(w.at(o.b), lane)).complete_bytes(size);
  }
}

/// a: the address; b: the mbarrier; c: the operand.
template <typename T, typename Op, typename SharedOp>
void reduce_async(warp& w, operation const& o, lane_mask mask)
{
  for (; mask != 0; mask &= mask - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(mask));
    auto* const element = w.resolve(load<std::uint64_t>(w.at(o.a), lane), sizeof(T), lane, o, true);
    (void)update<T, SharedOp>(element, load<T>(w.at(o.c), lane), T{});
    mbarrier_object(w, o, lane, load<std::uint64_t>(w.at(o.b), lane)).complete_bytes(sizeof(T));
  }
}

template <typename T, typename Op, typename SharedOp>
struct async_reduction_of {
  static constexpr handler run = &reduce_async<T, Op, SharedOp>;
};

void check_clusters(warp& w, operation const& o, lane_mask mask)
{
  if (!w.launch().is_explicit_cluster)
    w.fail(
        fault::launch,
        "in a grid without clusters (__cluster_dims__), where a GPU reports an illegal instruction",
        static_cast<unsigned>(std::countr_zero(mask)), o);
}

/// Takes what both instructions state: shared memory, and an mbarrier that counts bytes.
void take_target(decoding& d)
{
  (void)d.take("weak");
  (void)take_order(d);
  take_scope(d);
  if (!d.take("mbarrier::complete_tx::bytes") || take_space(d) != space::shared)
    d.refuse("not a store to shared memory that an mbarrier counts");
}

}  // namespace

void emit_cluster_check(decoding& d)
{
  d.emit(&check_clusters);
}

void decode_async_store(decoding& d)
{
  auto const type = d.take_type();
  if (size_of(type) != 4 && size_of(type) != 8) d.refuse("not a supported type");
  take_target(d);
  auto const count = d.take("v2") ? 2U : d.take("v4") ? 4U : 1U;
  d.expect_count(3, 3);
  auto const parts = elements_of(d.operand(1));
  if (parts.size() != count) d.reject("the vector has another length");
  std::vector<operand_offset> sources;
  for (auto const& part : parts) sources.push_back(d.source(part, type));
  auto const address = emit_generic_address(d, d.operand(0), space::shared);
  auto const mbarrier = emit_generic_address(d, d.operand(2), space::shared);
  auto const list = d.add_list(sources);
  emit_cluster_check(d);
  auto& o = d.emit(size_of(type) == 4 ? &store_async<std::uint32_t> : &store_async<std::uint64_t>);
  o.a = address;
  o.b = mbarrier;
  o.d = list;
  o.flags = count;
}

void decode_async_reduction(decoding& d)
{
  auto const type = d.take_type();
  take_target(d);
  d.expect_count(3, 3);
  auto const name = d.take_next();
  if (name == "exch" || name == "cas" || is_float(type)) d.refuse();
  auto const run = update_choice<async_reduction_of>::pick(d, name, type, space::shared);
  auto const operand = d.source(1, type);
  auto const address = emit_generic_address(d, d.operand(0), space::shared);
  auto const mbarrier = emit_generic_address(d, d.operand(2), space::shared);
  emit_cluster_check(d);
  auto& o = d.emit(run);
  o.a = address;
  o.b = mbarrier;
  o.c = operand;
}

}  // namespace fatlink::interpreter
