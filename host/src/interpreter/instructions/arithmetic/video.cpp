// SPDX-License-Identifier: Apache-2.0
// Video instructions, on parts of 32 bits: scalar ones and, on two halves or four bytes, SIMD ones.
// Source: PTX ISA 9.0, "Video Instructions".
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/arithmetic/integer_ops.hpp"

namespace fatlink::interpreter {
namespace {

// Parts that scalar and SIMD video instructions have in common.

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

// The operands and the last steps of the scalar video instructions.

namespace scalar_video {

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

}  // namespace scalar_video

/// Takes all words. @throws code_error (refused) not `count` types, or one that is neither u32 nor
/// s32.
video_words take_video_words(decoding& d, std::size_t count)
{
  video_words words;
  while (d.has_words()) {
    auto const word = d.take_next();
    if (auto const type = ptx::parse_type(word))
      words.types.push_back(*type);
    else
      words.others.emplace_back(word);
  }
  auto const is_supported = [](type type) { return type == type::u32 || type == type::s32; };
  if (words.types.size() != count ||
      !std::all_of(words.types.begin(), words.types.end(), is_supported))
    d.fail_unsupported("its types are not " + std::to_string(count) + " of .u32 and .s32");
  return words;
}

/// Takes one of .eq, .ne, .lt, .le, .gt, .ge. @throws code_error (refused).
video_relation take_video_relation(decoding const& d, video_words& words)
{
  constexpr std::string_view k_words[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (std::size_t i = 0; i < std::size(k_words); ++i)
    if (words.take(k_words[i])) return static_cast<video_relation>(i);
  d.fail_unsupported("it has no comparison");
}

/// @throws code_error (refused) there are words that were not taken.
void expect_no_words(decoding const& d, video_words const& words)
{
  if (!words.others.empty()) d.fail_unsupported("unknown modifier ." + words.others.front());
}

/// The operand without its selector and its sign.
operand_offset video_source(decoding& d, syntax::operand const& operand)
{
  auto whole = operand;
  whole.selector.clear();
  whole.minus = false;
  return d.source(whole, type::b32);
}

operand_offset video_destination(decoding& d, syntax::operand const& operand)
{
  auto whole = operand;
  whole.selector.clear();
  return d.destination(whole, type::b32);
}

namespace scalar_video {

/// @throws code_error (refused, invalid) a selector of another kind, a negated operand.
part part_of(decoding const& d, syntax::operand const& operand)
{
  constexpr std::string_view k_words[] = {"b0", "b1", "b2", "b3", "h0", "h1"};
  if (operand.minus) d.reject("the operand is negated");
  if (operand.selector.empty()) return part::whole;
  for (std::size_t i = 0; i < std::size(k_words); ++i)
    if (operand.selector == k_words[i]) return static_cast<part>(i);
  d.fail_unsupported("." + operand.selector + " is not a byte or half of an operand");
}

/// Takes the secondary operation, the last word. @throws code_error (refused) other words are left.
void take_end(decoding const& d, video_words& words, form& form)
{
  if (words.take("add")) form.second = secondary::add;
  if (words.take("min")) form.second = secondary::minimum;
  if (words.take("max")) form.second = secondary::maximum;
  expect_no_words(d, words);
}

/// Emits `run` with the operands d, a, b and, if the form needs it, c.
void emit(decoding& d, handler run, form form)
{
  form.result = part_of(d, d.operand(0));
  form.a = part_of(d, d.operand(1));
  form.b = part_of(d, d.operand(2));
  auto const merges = form.result != part::whole;
  if (merges && form.second != secondary::none)
    d.reject("it has a part of the destination and a second operation");
  auto const has_third = merges || form.second != secondary::none;
  d.expect_count(has_third ? 4 : 3, has_third ? 4 : 3);
  auto const a = video_source(d, d.operand(1));
  auto const b = video_source(d, d.operand(2));
  auto const c = has_third ? d.source(3, type::b32) : a;
  auto const result = video_destination(d, d.operand(0));
  auto& o = d.emit(run);
  o.d = result;
  o.a = a;
  o.b = b;
  o.c = c;
  o.immediate = std::bit_cast<std::uint64_t>(form);
}

}  // namespace scalar_video

using scalar_video::form;

template <video_action Action>
void arithmetic(warp& w, operation const& o, lane_mask mask)
{
  each_video_result<form>(
      w, o, mask, [](form const& form, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        auto const x = scalar_video::read(a, form.a, form.a_signed());
        auto const y = scalar_video::read(b, form.b, form.b_signed());
        auto const value = compute_video(Action, static_cast<video_relation>(form.relation), x, y);
        return scalar_video::finished(value, form, c);
      });
}

template <video_action Action>
void decode_arithmetic(decoding& d)
{
  auto words = take_video_words(d, 3);
  form form;
  form.set_signed(words.types[1], words.types[2], words.types[0]);
  if (Action == video_action::add || Action == video_action::subtract)
    form.ending = scalar_video::ending::sum;
  if (words.take("sat")) form.flags |= scalar_video::k_saturate;
  scalar_video::take_end(d, words, form);
  scalar_video::emit(d, for_host<&arithmetic<Action>>(), form);
}

/// The second operation has the type of a (measured on an H100; the PTX manual: unsigned).
void decode_video_set(decoding& d)
{
  auto words = take_video_words(d, 2);
  form form;
  form.set_signed(words.types[0], words.types[1], words.types[0]);
  form.relation = static_cast<std::uint8_t>(take_video_relation(d, words));
  scalar_video::take_end(d, words, form);
  scalar_video::emit(d, &arithmetic<video_action::compare>, form);
}

// vshl, vshr and vmad.

namespace scalar_video {

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
  if (words.types[2] != type::u32) d.fail_unsupported("the amount is not .u32");
  form form;
  form.set_signed(words.types[1], words.types[2], words.types[0]);
  form.ending = ending::shifted;
  if (words.take("sat")) form.flags |= k_saturate;
  if (words.take("wrap"))
    form.flags |= k_wrap;
  else if (!words.take("clamp"))
    d.fail_unsupported("neither .clamp nor .wrap");
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

}  // namespace scalar_video

// Video instructions on two halves or four bytes of 32 bits.

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
    d.fail_unsupported("." + selector + " does not select elements of an operand");
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
  if (digits.size() != Count)
    d.fail_unsupported("." + operand.selector + " selects too few elements");
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

void add_video(decode_table& table)
{
  table["vadd"] = &decode_arithmetic<video_action::add>;
  table["vsub"] = &decode_arithmetic<video_action::subtract>;
  table["vabsdiff"] = &decode_arithmetic<video_action::difference>;
  table["vmin"] = &decode_arithmetic<video_action::minimum>;
  table["vmax"] = &decode_arithmetic<video_action::maximum>;
  table["vset"] = &decode_video_set;
  table["vshl"] = &scalar_video::decode_video_shift<true>;
  table["vshr"] = &scalar_video::decode_video_shift<false>;
  table["vmad"] = &scalar_video::decode_multiply_add;
  add_pair<video_action::add>(table, "vadd2", "vadd4");
  add_pair<video_action::subtract>(table, "vsub2", "vsub4");
  add_pair<video_action::average>(table, "vavrg2", "vavrg4");
  add_pair<video_action::difference>(table, "vabsdiff2", "vabsdiff4");
  add_pair<video_action::minimum>(table, "vmin2", "vmin4");
  add_pair<video_action::maximum>(table, "vmax2", "vmax4");
  add_pair<video_action::compare>(table, "vset2", "vset4");
}

}  // namespace fatlink::interpreter
