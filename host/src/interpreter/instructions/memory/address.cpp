// SPDX-License-Identifier: Apache-2.0
// Conversion of addresses between state spaces; fences. Source: PTX ISA 9.0, "cvta",
// "membar".
#include <atomic>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

/// cvta, to a generic address or from one. Only shared memory has addresses of its own.
template <typename T, bool To>
void shift_address(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    auto const address = load<T>(a, i);
    store<T>(d, i, static_cast<T>(To ? address - o.immediate : address + o.immediate));
  });
}

void decode_cvta(decoding& d)
{
  auto const type = d.take_type();
  auto const is_to = d.take("to");
  auto const space = ptx::parse_space(d.take_next());
  if (!space || !is_integer(type) || size_of(type) != 8) d.refuse();
  d.expect_count(2, 2);
  auto const a = d.source(1, type);
  auto const result = d.destination(0, type);
  auto& o =
      d.emit(is_to ? &shift_address<std::uint64_t, true> : &shift_address<std::uint64_t, false>);
  o.d = result;
  o.a = a;
  o.immediate = *space == ptx::space::shared ? k_shared_window : 0;
}

/// All fences modify one atomic variable, which orders the accesses before it in one thread and
/// after it in another. The thread sanitizer understands that, but not a fence of the host.
/// flags: 1 of a fence that other blocks need not see.
void fence(warp& w, operation const& o, lane_mask)
{
  auto const scope = o.flags == 1 ? sync_scope::block : sync_scope::device;
  w.release_accesses(scope);
  static std::atomic<unsigned> meeting_point = 0;
  meeting_point.fetch_add(1, std::memory_order_seq_cst);
  w.acquire_accesses(scope);
}

/// Every fence is treated as the strongest kind, of all proxies and scopes.
void decode_fence(decoding& d)
{
  (void)d.take("proxy");
  auto const acquires_tensormap = d.take("tensormap::generic") && d.take("acquire");
  for (auto const* word :
       {"sc", "acq_rel", "acquire", "release", "mbarrier_init", "gl", "sys", "gpu", "cluster",
        "alias", "async", "global", "shared::cta", "shared::cluster", "async::generic",
        "sync_restrict::shared::cta", "sync_restrict::shared::cluster"})
    (void)d.take(word);
  auto const is_of_block = d.take("cta");
  auto const operands = acquires_tensormap ? 2U : 0U;  // an address and its size
  d.expect_count(operands, operands);
  d.emit(&fence).flags = is_of_block ? 1 : 0;
}

}  // namespace

void add_address(decode_table& table)
{
  table["cvta"] = &decode_cvta;
  table["membar"] = &decode_fence;
  table["fence"] = &decode_fence;
}

}  // namespace fatlink::interpreter
