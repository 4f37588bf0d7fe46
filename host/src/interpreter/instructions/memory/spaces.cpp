// SPDX-License-Identifier: Apache-2.0
// isspacep: whether a generic address lies in a state space. Source: PTX ISA 9.0, "isspacep".
#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

bool in_window(std::uint64_t address, std::uint64_t window) noexcept
{
  return address - window < k_window_size;
}

/// Constant variables are the only read-only regions, except for memory of the host.
bool is_constant(warp const& w, std::uint64_t address)
{
  auto const* const region = find_region(*w.launch().regions, address, 1);
  return region != nullptr && region->read_only && !region->is_mapped;
}

/// Global are all addresses that are in none of the windows of the constant, local and shared
/// spaces; the window of the kernel's parameters is within the global space.
bool is_in(warp const& w, std::uint64_t address, space space)
{
  switch (space) {
    case space::shared:
      return in_window(address, k_shared_window);
    case space::local:
      return in_window(address, k_local_window);
    case space::param:
      return in_window(address, k_parameter_window);
    case space::constant:
      return is_constant(w, address);
    case space::global:
    case space::generic:
      break;
  }
  return !in_window(address, k_shared_window) && !in_window(address, k_local_window) &&
         !is_constant(w, address);
}

/// In flags: shared memory of other blocks of the cluster is not in the space.
constexpr std::uint32_t k_own_block = 0x100;

/// Whether an address of shared memory is one of the block itself.
bool is_of_block(warp const& w, std::uint64_t address)
{
  auto const rank = (address - k_shared_window) >> k_rank_at;
  return rank == 0 || rank == w.block().rank() + 1;
}

template <typename T>
void test_space(warp& w, operation const& o, lane_mask mask)
{
  auto const* const a = w.at(o.a);
  auto const space = static_cast<ptx::space>(o.flags & ~k_own_block);
  lane_mask bits = 0;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const i = static_cast<unsigned>(std::countr_zero(remaining));
    auto const address = std::uint64_t{load<T>(a, i)};
    auto const is_elsewhere = (o.flags & k_own_block) != 0 && !is_of_block(w, address);
    if (!is_elsewhere && is_in(w, address, space)) bits |= 1U << i;
  }
  w.set_predicate(o.d, bits, mask);
}

void decode_test(decoding& d)
{
  auto const word = d.take_next();
  auto const space = ptx::parse_space(word);
  if (!space || word == "param::func") d.refuse("not a state space of generic addresses");
  d.expect_count(2, 2);
  auto const is_wide = d.width_of(d.operand(1)) != 4;
  auto const a = d.source(1, is_wide ? type::u64 : type::u32);
  auto const result = d.predicate_destination(d.operand(0));
  auto& o = d.emit(is_wide ? &test_space<std::uint64_t> : &test_space<std::uint32_t>);
  o.d = result;
  o.a = a;
  o.flags = static_cast<std::uint32_t>(*space) |
            (*space == space::shared && word != "shared::cluster" ? k_own_block : 0U);
}

}  // namespace

void add_spaces(decode_table& table)
{
  table["isspacep"] = &decode_test;
}

}  // namespace fatlink::interpreter
