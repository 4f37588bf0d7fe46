// SPDX-License-Identifier: Apache-2.0
// Source: PTX ISA 9.0, "Mixed Precision Floating-Point Instructions". The operand of 16 bits
// becomes f32, which is exact.
#include "interpreter/instructions/floats/mixed_arithmetic.hpp"

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/floats/float_modifiers.hpp"
#include "interpreter/instructions/floats/float_ops.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

using half_float::bfloat16;
using half_float::binary16;

struct op_mixed_add {
  float operator()(float a, float, float c) const { return a + c; }
};
struct op_mixed_subtract {
  float operator()(float a, float, float c) const { return a - c; }
};
struct op_mixed_fma {
  float operator()(float a, float b, float c) const { return std::fma(a, b, c); }
};

template <typename Half, typename Op>
void mixed(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  auto const saturates = (o.flags & k_saturate) != 0;
  rounding_scope const scope(static_cast<int>(o.flags & k_rounding));
  each_lane(mask, [=](unsigned i) {
    auto const half = [=](std::byte const* lanes) {
      return static_cast<float>(to_double(Half{load<std::uint16_t>(lanes, i)}));
    };
    auto const result = canonical(Op{}(half(a), half(b), load<float>(c, i)));
    store(d, i, saturates ? saturated(result) : result);
  });
}

template <typename Half>
handler pick_mixed(decoding const& d, std::string_view name)
{
  if (name == "add") return &mixed<Half, op_mixed_add>;
  if (name == "sub") return &mixed<Half, op_mixed_subtract>;
  if (name == "fma") return &mixed<Half, op_mixed_fma>;
  d.refuse();
}

std::uint32_t take_mixed_flags(decoding& d)
{
  return static_cast<std::uint32_t>(take_rounding(d)) | (d.take("sat") ? k_saturate : 0U);
}

}  // namespace

void decode_mixed_arithmetic(decoding& d, std::string_view name, type type)
{
  auto const flags = take_mixed_flags(d);
  auto const is_fma = name == "fma";
  auto const run =
      type == type::f16 ? pick_mixed<binary16>(d, name) : pick_mixed<bfloat16>(d, name);
  auto& o = is_fma ? d.emit(run, type::f32, {type, type, type::f32})
                   : d.emit(run, type::f32, {type, type::f32});
  if (!is_fma) {  // the sum's operands are a and c
    o.c = o.b;
    o.b = o.a;
  }
  o.flags = flags;
}

}  // namespace fatlink::interpreter
