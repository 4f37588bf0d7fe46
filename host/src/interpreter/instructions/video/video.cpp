// SPDX-License-Identifier: Apache-2.0
// The scalar video instructions: vadd, vsub, vabsdiff, vmin, vmax, vset.
#include "interpreter/instructions/video/video.hpp"

#include <bit>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/video/scalar_video.hpp"

namespace fatlink::interpreter {

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
    d.refuse("its types are not " + std::to_string(count) + " of .u32 and .s32");
  return words;
}

video_relation take_video_relation(decoding const& d, video_words& words)
{
  constexpr std::string_view k_words[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (std::size_t i = 0; i < std::size(k_words); ++i)
    if (words.take(k_words[i])) return static_cast<video_relation>(i);
  d.refuse("it has no comparison");
}

void expect_no_words(decoding const& d, video_words const& words)
{
  if (!words.others.empty()) d.refuse("unknown modifier ." + words.others.front());
}

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

part part_of(decoding const& d, syntax::operand const& operand)
{
  constexpr std::string_view k_words[] = {"b0", "b1", "b2", "b3", "h0", "h1"};
  if (operand.minus) d.reject("the operand is negated");
  if (operand.selector.empty()) return part::whole;
  for (std::size_t i = 0; i < std::size(k_words); ++i)
    if (operand.selector == k_words[i]) return static_cast<part>(i);
  d.refuse("." + operand.selector + " is not a byte or half of an operand");
}

void take_end(decoding const& d, video_words& words, form& form)
{
  if (words.take("add")) form.second = secondary::add;
  if (words.take("min")) form.second = secondary::minimum;
  if (words.take("max")) form.second = secondary::maximum;
  expect_no_words(d, words);
}

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

namespace {

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

}  // namespace

void add_video(decode_table& table)
{
  table["vadd"] = &decode_arithmetic<video_action::add>;
  table["vsub"] = &decode_arithmetic<video_action::subtract>;
  table["vabsdiff"] = &decode_arithmetic<video_action::difference>;
  table["vmin"] = &decode_arithmetic<video_action::minimum>;
  table["vmax"] = &decode_arithmetic<video_action::maximum>;
  table["vset"] = &decode_video_set;
  scalar_video::add_shifts(table);
}

}  // namespace fatlink::interpreter
