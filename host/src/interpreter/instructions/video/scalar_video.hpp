// SPDX-License-Identifier: Apache-2.0
// The operands and the last steps of the scalar video instructions. Source: PTX ISA 9.0, "Scalar
// Video Instructions".
#pragma once

#include <algorithm>
#include <cstdint>

#include "interpreter/instructions/video/video.hpp"

namespace fatlink::interpreter::scalar_video {

/// A byte, a half or all of an operand.
enum class part : std::uint8_t { b0, b1, b2, b3, h0, h1, whole };

constexpr unsigned bits_of(part part) noexcept
{
  return part < part::h0 ? 8 : part < part::whole ? 16 : 32;
}

constexpr unsigned shift_of(part part) noexcept
{
  auto const index = static_cast<unsigned>(part);
  return part < part::h0 ? 8 * index : part == part::h1 ? 16 : 0;
}

inline std::int64_t read(std::uint32_t value, part part, bool is_signed) noexcept
{
  return extended(value >> shift_of(part), bits_of(part), is_signed);
}

enum class secondary : std::uint8_t { none, add, minimum, maximum };

enum flags : std::uint8_t {
  k_a_signed = 1,
  k_b_signed = 2,
  k_signed = 4,  ///< the result
  k_saturate = 8,
  k_wrap = 16,
  k_negate_product = 32,
  k_negate_addend = 64,
  k_plus_one = 128,
};

/// How an instruction ends: a sum is cut to 32 bits before the second operation, other values are
/// not, and shifted values have 34 bits.
enum class ending : std::uint8_t { value, sum, shifted };

/// An instruction's form; in operation::immediate.
struct form {
  part a = part::whole;
  part b = part::whole;
  part result = part::whole;
  secondary second = secondary::none;
  std::uint8_t flags = 0;
  std::uint8_t relation = 0;  ///< of vset
  std::uint8_t scale = 0;     ///< bits that vmad shifts to the right
  scalar_video::ending ending = ending::value;

  [[nodiscard]] bool a_signed() const noexcept { return (flags & k_a_signed) != 0; }
  [[nodiscard]] bool b_signed() const noexcept { return (flags & k_b_signed) != 0; }
  [[nodiscard]] bool is_signed() const noexcept { return (flags & k_signed) != 0; }
  [[nodiscard]] bool has(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
  void set_signed(type a_type, type b_type, type result_type) noexcept
  {
    auto const set = [&](type type, unsigned flag) {
      if (ptx::is_signed(type)) flags = static_cast<std::uint8_t>(flags | flag);
    };
    set(a_type, k_a_signed);
    set(b_type, k_b_signed);
    set(result_type, k_signed);
  }
};
static_assert(sizeof(form) == sizeof(operation::immediate));

/// `.sat`. Not as the PTX manual states it, but as GPUs do that lack these instructions, from
/// sm_70 on. Measured on an H100: a byte or half of the destination is saturated as an unsigned
/// value, so that a negative one becomes the largest, but not after a shift, where the lowest 34
/// bits are saturated to 32. From the code that ptxas 13.0 makes: `.u32` has no upper limit
/// otherwise.
inline std::int64_t saturated(std::int64_t value, form const& form) noexcept
{
  if (form.ending == ending::shifted)
    return clamped_to<std::int64_t>(extended(static_cast<std::uint64_t>(value), 34, true), 32,
                                    form.is_signed());
  if (form.result != part::whole) {
    auto const largest = (1U << (bits_of(form.result) - (form.is_signed() ? 1U : 0U))) - 1;
    return value < 0 || value > largest ? std::int64_t{largest} : value;
  }
  if (form.is_signed()) return clamped_to<std::int64_t>(value, 32, true);
  return std::max<std::int64_t>(value, 0);
}

/// Whether `.min` or `.max` keeps `value`. The comparison is one of 64 bits, as in ptxas's code.
inline bool is_kept(std::int64_t value, form const& form, std::uint32_t c) noexcept
{
  auto const is_minimum = form.second == secondary::minimum;
  if (form.is_signed()) {
    auto const third = extended(c, 32, true);
    return is_minimum ? value < third : value > third;
  }
  auto const bits = static_cast<std::uint64_t>(value);
  return is_minimum ? bits < c : bits > c;
}

/// Puts the low bits of `value` into a part of `c`. The upper half takes the upper half of the
/// value, which the PTX manual does not say (measured on an H100).
inline std::uint32_t inserted(std::uint32_t value, part part, std::uint32_t c) noexcept
{
  auto const kept = ((1U << bits_of(part)) - 1) << shift_of(part);
  auto const moved = part == part::h1 ? value : value << shift_of(part);
  return (moved & kept) | (c & ~kept);
}

/// Saturates `value`, then combines it with `c` or puts it into a part of `c`.
inline std::uint32_t finished(std::int64_t value, form const& form, std::uint32_t c) noexcept
{
  auto const saturates = form.has(k_saturate);
  if (saturates) value = saturated(value, form);
  if (form.ending == ending::sum || (saturates && form.ending == ending::shifted))
    value = extended(static_cast<std::uint32_t>(value), 32, true);
  auto const result = static_cast<std::uint32_t>(value);
  if (form.result != part::whole) return inserted(result, form.result, c);
  if (form.second == secondary::none) return result;
  if (form.second == secondary::add) return result + c;
  return is_kept(value, form, c) ? result : c;
}

/// @throws failure (refused, invalid) a selector of another kind, a negated operand.
part part_of(decoding const& d, syntax::operand const& operand);
/// Takes the secondary operation, the last word. @throws failure (refused) other words are left.
void take_end(decoding const& d, video_words& words, form& form);
/// Emits `run` with the operands d, a, b and, if the form needs it, c.
void emit(decoding& d, handler run, form form);
/// vshl, vshr and vmad.
void add_shifts(decode_table& table);

}  // namespace fatlink::interpreter::scalar_video
