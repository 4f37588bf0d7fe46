// SPDX-License-Identifier: Apache-2.0
// The operands and the last steps of the scalar video instructions. Source: PTX ISA 9.0, "Scalar
// Video Instructions".
#pragma once

#include <cstdint>

#include "interpreter/instructions/video.hpp"

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

/// An instruction's form; in operation::immediate.
struct form {
  part a = part::whole;
  part b = part::whole;
  part result = part::whole;
  secondary second = secondary::none;
  std::uint8_t flags = 0;
  std::uint8_t relation = 0;  ///< of vset
  std::uint8_t scale = 0;     ///< bits that vmad shifts to the right
  std::uint8_t unused = 0;

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

/// Saturates `value`, then combines it with `c` or puts it into a part of `c`.
template <typename T>
std::uint32_t finished(T value, form const& form, std::uint32_t c) noexcept
{
  auto const bits = bits_of(form.result);
  if (form.has(k_saturate)) value = clamped_to(value, bits, form.is_signed());
  auto const third = static_cast<T>(extended(c, 32, form.is_signed()));
  switch (form.second) {
    case secondary::add:
      value += third;
      break;
    case secondary::minimum:
      value = std::min(value, third);
      break;
    case secondary::maximum:
      value = std::max(value, third);
      break;
    case secondary::none:
      break;
  }
  auto const result = static_cast<std::uint32_t>(value);
  if (form.result == part::whole) return result;
  auto const kept = ((1U << bits) - 1) << shift_of(form.result);
  return (result << shift_of(form.result) & kept) | (c & ~kept);
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
