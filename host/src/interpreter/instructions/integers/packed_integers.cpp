// SPDX-License-Identifier: Apache-2.0
// Source: PTX ISA 9.0, "Integer Arithmetic Instructions": add, min, max.
#include "interpreter/instructions/integers/packed_integers.hpp"

#include <algorithm>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/integers/integer_ops.hpp"

namespace fatlink::interpreter {
namespace {

/// The result of Op, but at least 0.
template <typename Op>
struct op_relu {
  template <typename T>
  T operator()(T a, T b) const
  {
    return std::max(Op{}(a, b), T{0});
  }
};

template <typename T, typename Op>
void pairs(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  each_lane(mask, [=](unsigned i) {
    store(d, 2 * i, Op{}(load<T>(a, 2 * i), load<T>(b, 2 * i)));
    store(d, 2 * i + 1, Op{}(load<T>(a, 2 * i + 1), load<T>(b, 2 * i + 1)));
  });
}

template <typename T>
handler pick_packed(std::string_view name, bool relu)
{
  if (name == "add") return for_host<&pairs<T, op_add>>();
  if (name == "min")
    return relu ? for_host<&pairs<T, op_relu<op_min>>>() : for_host<&pairs<T, op_min>>();
  return relu ? for_host<&pairs<T, op_relu<op_max>>>() : for_host<&pairs<T, op_max>>();
}

void decode_relu(decoding& d, std::string_view name)
{
  using s32 = std::int32_t;
  if (name == "add" || d.take_type() != type::s32) d.refuse("it has no .relu");
  auto const run =
      name == "min" ? &binary<s32, s32, op_relu<op_min>> : &binary<s32, s32, op_relu<op_max>>;
  d.emit(run, type::s32, {type::s32, type::s32});
}

}  // namespace

bool decode_packed_integers(decoding& d, std::string_view name)
{
  auto const is_signed = d.take("s16x2");
  if (!is_signed && !d.take("u16x2")) {
    if (!d.take("relu")) return false;
    decode_relu(d, name);
    return true;
  }
  auto const relu = d.take("relu");
  if (relu && (!is_signed || name == "add")) d.refuse("it has no .relu");
  auto const run =
      is_signed ? pick_packed<std::int16_t>(name, relu) : pick_packed<std::uint16_t>(name, relu);
  d.emit(run, type::b32, {type::b32, type::b32});
  return true;
}

}  // namespace fatlink::interpreter
