// SPDX-License-Identifier: Apache-2.0
// Parts that scalar and SIMD video instructions have in common. Source: PTX ISA 9.0, "Video
// Instructions".
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/integers/integer_ops.hpp"

namespace fatlink::interpreter {

/// What a video instruction computes.
enum class video_action : std::uint8_t {
  add,
  subtract,
  difference,
  minimum,
  maximum,
  average,
  compare
};

enum class video_relation : std::uint8_t { eq, ne, lt, le, gt, ge };

inline bool compare_video(video_relation relation, std::int64_t a, std::int64_t b) noexcept
{
  switch (relation) {
    case video_relation::eq:
      return a == b;
    case video_relation::ne:
      return a != b;
    case video_relation::lt:
      return a < b;
    case video_relation::le:
      return a <= b;
    case video_relation::gt:
      return a > b;
    case video_relation::ge:
      break;
  }
  return a >= b;
}

/// The exact result for values of at most 33 bits.
inline std::int64_t compute_video(video_action action, video_relation relation, std::int64_t a,
                                  std::int64_t b) noexcept
{
  switch (action) {
    case video_action::add:
      return a + b;
    case video_action::subtract:
      return a - b;
    case video_action::difference:
      return a < b ? b - a : a - b;
    case video_action::minimum:
      return std::min(a, b);
    case video_action::maximum:
      return std::max(a, b);
    case video_action::average:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case video_action::compare:
      break;
  }
  return compare_video(relation, a, b) ? 1 : 0;
}

/// The value of the lowest `bits` bits.
inline std::int64_t extended(std::uint64_t value, unsigned bits, bool is_signed) noexcept
{
  auto const shift = 64 - bits;
  auto const upper = value << shift;
  return is_signed ? static_cast<std::int64_t>(upper) >> shift
                   : static_cast<std::int64_t>(upper >> shift);
}

/// Clamps to the range of integers of `bits` bits.
template <typename T>
T clamped_to(T value, unsigned bits, bool is_signed) noexcept
{
  auto const range = T{1} << (is_signed ? bits - 1 : bits);
  return std::clamp<T>(value, is_signed ? -range : T{0}, range - 1);
}

/// Stores compute(form, a, b, c) for each lane. operation::immediate: the form.
template <typename Form, typename Compute>
[[gnu::always_inline]] inline void each_video_result(warp& w, operation const& o, lane_mask mask,
                                                     Compute const& compute)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  auto const form = std::bit_cast<Form>(o.immediate);
  each_lane(mask, [=](unsigned i) {
    store(d, i,
          compute(form, load<std::uint32_t>(a, i), load<std::uint32_t>(b, i),
                  load<std::uint32_t>(c, i)));
  });
}

/// The words of a video instruction: types and others, each in their order.
struct video_words {
  std::vector<type> types = {};
  std::vector<std::string> others = {};

  /// Takes the word `word` if the instruction has it.
  bool take(std::string_view word)
  {
    auto const position = std::find(others.begin(), others.end(), word);
    if (position == others.end()) return false;
    others.erase(position);
    return true;
  }
};

/// Takes all words. @throws failure (refused) not `count` types, or one that is neither u32 nor
/// s32.
video_words take_video_words(decoding& d, std::size_t count);
/// Takes one of .eq, .ne, .lt, .le, .gt, .ge. @throws failure (refused).
video_relation take_video_relation(decoding const& d, video_words& words);
/// @throws failure (refused) there are words that were not taken.
void expect_no_words(decoding const& d, video_words const& words);
/// The operand without its selector and its sign.
operand_offset video_source(decoding& d, syntax::operand const& operand);
operand_offset video_destination(decoding& d, syntax::operand const& operand);

}  // namespace fatlink::interpreter
