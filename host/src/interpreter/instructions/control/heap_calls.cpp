// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/control/heap_calls.hpp"

#include <bit>
#include <cstring>

#include "interpreter/execution/block.hpp"
#include "interpreter/execution/device_heap.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {
namespace {

/// What a call for a thread takes the host, in instructions of a warp.
constexpr std::uint64_t k_heap_charge = 128;

std::uint64_t argument_of(warp const& w, call_site const& site, unsigned lane)
{
  std::uint64_t value = 0;
  std::memcpy(&value, w.local(lane, site.arguments[0].offset), sizeof value);
  return value;
}

/// The memory may have been that of other threads.
void forget_accesses(warp const& w, std::uint64_t address, std::uint64_t bytes)
{
  auto const* const region = find_region(*w.launch().regions, address, 1);
  if (region != nullptr) w.launch().races->forget(*region, address - region->base, bytes);
}

void call_malloc(warp& w, operation const& o, lane_mask mask)
{
  auto const& site = w.current().code->calls[o.immediate];
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto const bytes = argument_of(w, site, lane);
    auto const address = w.launch().heap->allocate(bytes);
    w.charge(k_heap_charge);
    if (address != 0 && w.launch().races != nullptr) forget_accesses(w, address, bytes);
    if (!site.results.empty())
      std::memcpy(w.local(lane, site.results[0].offset), &address, sizeof address);
  }
}

void call_free(warp& w, operation const& o, lane_mask mask)
{
  auto const& site = w.current().code->calls[o.immediate];
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    w.charge(k_heap_charge);
    if (!w.launch().heap->release(argument_of(w, site, lane)))
      w.fail(fault::address, "frees memory that malloc did not return, or that is free already",
             lane, o);
  }
}

void emit_call(decoding& d, call_site const& site, handler run, char const* name,
               std::size_t max_results)
{
  auto const takes_address = site.arguments.size() == 1 && site.arguments[0].size == 8;
  auto const returns_address =
      site.results.size() <= max_results && (site.results.empty() || site.results[0].size == 8);
  if (!takes_address) d.reject_call(std::string("the arguments are not those of ") + name);
  if (!returns_address) d.reject_call(std::string("the result is not that of ") + name);
  d.result().uses_heap = true;
  d.emit(run).immediate = d.result().calls.size();
}

}  // namespace

void decode_malloc(decoding& d, call_site const& site)
{
  emit_call(d, site, &call_malloc, "malloc", 1);
}

void decode_free(decoding& d, call_site const& site)
{
  emit_call(d, site, &call_free, "free", 0);
}

}  // namespace fatlink::interpreter
