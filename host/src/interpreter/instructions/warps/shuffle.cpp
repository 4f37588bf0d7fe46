// SPDX-License-Identifier: Apache-2.0
// shfl. Source: PTX ISA 9.0, "shfl.sync" and "shfl (deprecated)".
#include <bit>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/warps/collective.hpp"

namespace fatlink::interpreter {
namespace {

enum class shuffle_mode { up, down, bfly, idx };

struct shuffled {
  unsigned source;
  bool in_range;
};

template <shuffle_mode Mode>
shuffled shuffle_source(unsigned lane, std::uint32_t b, std::uint32_t c) noexcept
{
  auto const segment = c >> 8 & 31U;
  auto const clamp = c & 31U;
  auto const segment_begin = lane & segment;
  auto const limit = segment_begin | (clamp & ~segment);
  auto const distance = b & 31U;
  if constexpr (Mode == shuffle_mode::up) {
    auto const in_range = static_cast<int>(lane - distance) >= static_cast<int>(limit);
    return {in_range ? lane - distance : lane, in_range};
  } else {
    auto const source = Mode == shuffle_mode::down   ? lane + distance
                        : Mode == shuffle_mode::bfly ? lane ^ distance
                                                     : segment_begin | (distance & ~segment);
    return {source <= limit ? source : lane, source <= limit};
  }
}

/// e: the member mask; immediate: the predicate for whether the source lane was in range.
template <shuffle_mode Mode>
void shfl(warp& w, operation const& o, lane_mask mask)
{
  if (!meet(w, o, o.e, mask)) return;
  auto const* const a = w.at(o.a);
  std::uint32_t values[k_lanes];
  std::memcpy(values, a, sizeof values);
  auto* const d = w.at(o.d);
  lane_mask in_range = 0;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = first_lane(remaining);
    auto const [source, is_valid] = shuffle_source<Mode>(lane, load<std::uint32_t>(w.at(o.b), lane),
                                                         load<std::uint32_t>(w.at(o.c), lane));
    store(d, lane, values[source & 31U]);
    if (is_valid) in_range |= 1U << lane;
  }
  w.set_predicate(static_cast<std::uint32_t>(o.immediate), in_range, mask);
}

handler take_shuffle(decoding& d)
{
  if (d.take("up")) return &shfl<shuffle_mode::up>;
  if (d.take("down")) return &shfl<shuffle_mode::down>;
  if (d.take("bfly")) return &shfl<shuffle_mode::bfly>;
  if (!d.take("idx")) d.refuse();
  return &shfl<shuffle_mode::idx>;
}

void decode_shfl(decoding& d)
{
  if (d.take_type() != type::b32) d.refuse();
  auto const members = take_members(d, 4);
  auto const run = take_shuffle(d);
  auto const a = d.source(1, type::b32);
  auto const b = d.source(2, type::b32);
  auto const c = d.source(3, type::b32);
  auto const result = take_results(d, type::b32);
  auto& o = d.emit(run);
  o.d = result.value;
  o.a = a;
  o.b = b;
  o.c = c;
  o.e = members;
  o.immediate = result.predicate;
  o.flags = flags_of({.source_bytes = 4,
                      .has_lane_operands = true,
                      .value_result = true,
                      .predicate_result = predicate_place::immediate},
                     0);
}

}  // namespace

void add_shuffle(decode_table& table)
{
  table["shfl"] = &decode_shfl;
}

}  // namespace fatlink::interpreter
