// SPDX-License-Identifier: Apache-2.0
// Video instructions on two halves or four bytes of 32 bits. Source: PTX ISA 9.0, "SIMD Video
// Instructions".
#include <bit>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/video/video.hpp"

namespace fatlink::interpreter {
namespace {

enum simd_flags : std::uint8_t {
  k_a_signed = 1,
  k_b_signed = 2,
  k_signed = 4,
  k_saturate = 8,
  k_accumulate = 16
};

/// An instruction's form; in operation::immediate. A selector has 4 bits for each position of the
/// result, the lowest first: the element of b:a.
struct simd_form {
  std::uint16_t a_selector = 0;
  std::uint16_t b_selector = 0;
  std::uint8_t positions = 0;  ///< a bit for each position that gets a result
  std::uint8_t flags = 0;
  std::uint8_t relation = 0;
  std::uint8_t unused = 0;
};
static_assert(sizeof(simd_form) == sizeof(operation::immediate));

template <unsigned Count>
constexpr unsigned k_element_bits = 32 / Count;

template <unsigned Count>
std::int64_t extract_element(std::uint64_t pair, std::uint16_t selector, unsigned position,
                             bool is_signed) noexcept
{
  constexpr auto k_bits = k_element_bits<Count>;
  auto const index = selector >> (4 * position) & 0xFU;
  return extended(static_cast<std::uint32_t>(pair >> (index * k_bits)), k_bits, is_signed);
}

template <video_action Action, unsigned Count>
std::uint32_t compute(simd_form const& form, std::uint32_t a, std::uint32_t b,
                      std::uint32_t c) noexcept
{
  constexpr auto k_bits = k_element_bits<Count>;
  auto const pair = std::uint64_t{b} << 32 | a;
  auto const accumulates = (form.flags & k_accumulate) != 0;
  auto result = c;
  for (unsigned i = 0; i < Count; ++i) {
    if ((form.positions >> i & 1) == 0) continue;
    auto value =
        compute_video(Action, static_cast<video_relation>(form.relation),
                      extract_element<Count>(pair, form.a_selector, i, form.flags & k_a_signed),
                      extract_element<Count>(pair, form.b_selector, i, form.flags & k_b_signed));
    if ((form.flags & k_saturate) != 0)
      value = clamped_to(value, k_bits, (form.flags & k_signed) != 0);
    auto const kept = ((1U << k_bits) - 1) << (i * k_bits);
    auto const bits = static_cast<std::uint32_t>(value);
    result = accumulates ? result + bits : (bits << (i * k_bits) & kept) | (result & ~kept);
  }
  return result;
}

template <video_action Action, unsigned Count>
void simd(warp& w, operation const& o, lane_mask mask)
{
  each_video_result<simd_form>(w, o, mask, compute<Action, Count>);
}

/// The digits of a selector, "h10" or "b3210", the last one first: that of the lowest position.
template <unsigned Count>
std::vector<unsigned> digits_of(decoding const& d, std::string const& selector, unsigned maximum)
{
  auto const letter = Count == 2 ? 'h' : 'b';
  std::vector<unsigned> digits;
  for (auto i = selector.size(); i-- > 1;)
    digits.push_back(static_cast<unsigned>(selector[i] - '0'));
  auto const is_beyond = [=](unsigned digit) { return digit > maximum; };
  if (selector.front() != letter || digits.empty() || digits.size() > Count ||
      std::any_of(digits.begin(), digits.end(), is_beyond))
    d.refuse("." + selector + " does not select elements of an operand");
  return digits;
}

template <unsigned Count>
std::uint16_t selector_of(decoding const& d, syntax::operand const& operand, unsigned first)
{
  if (operand.minus) d.reject("the operand is negated");
  unsigned selector = 0;
  if (operand.selector.empty()) {
    for (unsigned i = 0; i < Count; ++i) selector |= (first + i) << (4 * i);
    return static_cast<std::uint16_t>(selector);
  }
  auto const digits = digits_of<Count>(d, operand.selector, 2 * Count - 1);
  if (digits.size() != Count) d.refuse("." + operand.selector + " selects too few elements");
  for (unsigned i = 0; i < Count; ++i) selector |= digits[i] << (4 * i);
  return static_cast<std::uint16_t>(selector);
}

template <unsigned Count>
std::uint8_t positions_of(decoding const& d, syntax::operand const& operand)
{
  if (operand.selector.empty()) return (1U << Count) - 1;
  unsigned positions = 0;
  for (auto const digit : digits_of<Count>(d, operand.selector, Count - 1))
    positions |= 1U << digit;
  return static_cast<std::uint8_t>(positions);
}

template <video_action Action, unsigned Count>
void decode_simd(decoding& d)
{
  constexpr auto k_compares = Action == video_action::compare;
  auto words = take_video_words(d, k_compares ? 2 : 3);
  if (k_compares) words.types.insert(words.types.begin(), type::u32);
  simd_form form;
  unsigned flags = 0;
  if (is_signed(words.types[0])) flags |= k_signed;
  if (is_signed(words.types[1])) flags |= k_a_signed;
  if (is_signed(words.types[2])) flags |= k_b_signed;
  if (words.take("add")) flags |= k_accumulate;
  if (!k_compares && words.take("sat")) flags |= k_saturate;
  if (k_compares) form.relation = static_cast<std::uint8_t>(take_video_relation(d, words));
  expect_no_words(d, words);
  d.expect_count(4, 4);
  form.flags = static_cast<std::uint8_t>(flags);
  form.positions = positions_of<Count>(d, d.operand(0));
  form.a_selector = selector_of<Count>(d, d.operand(1), 0);
  form.b_selector = selector_of<Count>(d, d.operand(2), Count);
  auto const a = video_source(d, d.operand(1));
  auto const b = video_source(d, d.operand(2));
  auto const c = d.source(3, type::b32);
  auto const result = video_destination(d, d.operand(0));
  auto& o = d.emit(for_host<&simd<Action, Count>>());
  o.d = result;
  o.a = a;
  o.b = b;
  o.c = c;
  o.immediate = std::bit_cast<std::uint64_t>(form);
}

template <video_action Action>
void add_pair(decode_table& table, std::string_view two, std::string_view four)
{
  table[two] = &decode_simd<Action, 2>;
  table[four] = &decode_simd<Action, 4>;
}

}  // namespace

void add_simd_video(decode_table& table)
{
  add_pair<video_action::add>(table, "vadd2", "vadd4");
  add_pair<video_action::subtract>(table, "vsub2", "vsub4");
  add_pair<video_action::average>(table, "vavrg2", "vavrg4");
  add_pair<video_action::difference>(table, "vabsdiff2", "vabsdiff4");
  add_pair<video_action::minimum>(table, "vmin2", "vmin4");
  add_pair<video_action::maximum>(table, "vmax2", "vmax4");
  add_pair<video_action::compare>(table, "vset2", "vset4");
}

}  // namespace fatlink::interpreter
