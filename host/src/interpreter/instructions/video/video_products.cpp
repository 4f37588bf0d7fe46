// SPDX-License-Identifier: Apache-2.0
// vshl, vshr and vmad. Source: PTX ISA 9.0, "Scalar Video Instructions".
#include <bit>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/integers/integer_ops.hpp"
#include "interpreter/instructions/video/scalar_video.hpp"

namespace fatlink::interpreter::scalar_video {
namespace {

/// Shifts by at most 32 bits; `.wrap` reads the amount modulo 32.
template <bool Left>
void shift_video(warp& w, operation const& o, lane_mask mask)
{
  each_video_result<form>(
      w, o, mask, [](form const& form, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        auto const value = read(a, form.a, form.a_signed());
        auto const stated = read(b, form.b, false);
        auto const amount = form.has(k_wrap) ? stated & 31 : std::min<std::int64_t>(stated, 32);
        auto const shifted = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << amount);
        return finished(Left ? shifted : value >> amount, form, c);
      });
}

/// An operand of vmad: whole ones are signed, whatever their type (measured on an H100; the PTX
/// manual: of the type stated).
std::int64_t read_factor(std::uint32_t value, part part, bool is_signed) noexcept
{
  return read(value, part, is_signed || part == part::whole);
}

/// (a · b + c) >> scale. A negated c is the complement of its 32 bits, plus 1 in the sum. c is
/// signed, and an unsigned sum is shifted as 64 bits without sign (measured on an H100).
std::uint32_t multiply_add(form const& form, std::uint32_t a, std::uint32_t b, std::uint32_t c)
{
  auto product = read_factor(a, form.a, form.a_signed()) * read_factor(b, form.b, form.b_signed());
  if (form.has(k_negate_product)) product = -product;
  if (form.has(k_negate_addend)) c = ~c;
  auto const one = form.has(k_negate_addend) || form.has(k_plus_one) ? 1 : 0;
  auto const sum = product + extended(c, 32, true) + one;
  auto const shifted =
      form.is_signed() || form.scale == 0
          ? sum >> form.scale
          : static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) >> form.scale);
  return static_cast<std::uint32_t>(
      form.has(k_saturate) ? clamped_to<std::int64_t>(shifted, 32, form.is_signed()) : shifted);
}

void multiply_and_add(warp& w, operation const& o, lane_mask mask)
{
  each_video_result<form>(w, o, mask, multiply_add);
}

template <bool Left>
void decode_video_shift(decoding& d)
{
  auto words = take_video_words(d, 3);
  if (words.types[2] != type::u32) d.refuse("the amount is not .u32");
  form form;
  form.set_signed(words.types[1], words.types[2], words.types[0]);
  form.ending = ending::shifted;
  if (words.take("sat")) form.flags |= k_saturate;
  if (words.take("wrap"))
    form.flags |= k_wrap;
  else if (!words.take("clamp"))
    d.refuse("neither .clamp nor .wrap");
  take_end(d, words, form);
  emit(d, &shift_video<Left>, form);
}

/// The operand's part, of an operand that may be negated.
part part_of_factor(decoding const& d, syntax::operand operand)
{
  operand.minus = false;
  return part_of(d, operand);
}

void take_signs(decoding const& d, video_words const& words, form& form)
{
  auto const negated = d.operand(1).minus != d.operand(2).minus;
  if (negated) form.flags |= k_negate_product;
  if (d.operand(3).minus) form.flags |= k_negate_addend;
  if (negated && d.operand(3).minus) d.reject("both the product and c are negated");
  auto const is_any_negated = d.operand(1).minus || d.operand(2).minus || d.operand(3).minus;
  if (form.has(k_plus_one) && is_any_negated) d.reject("an operand of .po is negated");
  form.set_signed(words.types[1], words.types[2], type::u32);
  if (form.a_signed() || form.b_signed() || negated || d.operand(3).minus) form.flags |= k_signed;
}

void decode_multiply_add(decoding& d)
{
  auto words = take_video_words(d, 3);
  d.expect_count(4, 4);
  form form;
  if (words.take("po")) form.flags |= k_plus_one;
  if (words.take("sat")) form.flags |= k_saturate;
  form.scale = words.take("shr7") ? 7 : words.take("shr15") ? 15 : 0;
  expect_no_words(d, words);
  take_signs(d, words, form);
  form.a = part_of_factor(d, d.operand(1));
  form.b = part_of_factor(d, d.operand(2));
  auto const a = video_source(d, d.operand(1));
  auto const b = video_source(d, d.operand(2));
  if (!d.operand(3).selector.empty()) d.reject("c has a part");
  auto const c = video_source(d, d.operand(3));
  auto const result = d.destination(0, type::b32);
  auto& o = d.emit(&multiply_and_add);
  o.d = result;
  o.a = a;
  o.b = b;
  o.c = c;
  o.immediate = std::bit_cast<std::uint64_t>(form);
}

}  // namespace

void add_shifts(decode_table& table)
{
  table["vshl"] = &decode_video_shift<true>;
  table["vshr"] = &decode_video_shift<false>;
  table["vmad"] = &decode_multiply_add;
}

}  // namespace fatlink::interpreter::scalar_video
