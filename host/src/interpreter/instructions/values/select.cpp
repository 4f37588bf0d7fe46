// SPDX-License-Identifier: Apache-2.0
// Selection, and tests of the class of a floating-point number. Source: PTX ISA 9.0, "Comparison
// and Selection Instructions".
#include <array>
#include <cmath>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/floats/float_ops.hpp"

namespace fatlink::interpreter {
namespace {

template <typename T>
void selp(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const bits = w.predicate(o.c);
  each_lane(mask, [=](unsigned i) {
    auto const x = load<T>(a, i);
    auto const y = load<T>(b, i);
    store<T>(d, i, (bits >> i & 1) != 0 ? x : y);
  });
}

void decode_selp(decoding& d)
{
  auto const type = d.take_type();
  d.expect_count(4, 4);
  auto const a = d.source(1, type);
  auto const b = d.source(2, type);
  auto const c = d.predicate(3);
  auto const result = d.destination(0, type);
  auto& o = d.emit(
      for_bits(d, size_of(type), []<typename T>() -> handler { return for_host<&selp<T>>(); }));
  o.d = result;
  o.a = a;
  o.b = b;
  o.c = c;
}

/// d = c ≥ 0 ? a : b. −0 counts as ≥ 0, NaN does not.
template <typename T, typename C, bool Ftz>
void slct(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  each_lane(mask, [=](unsigned i) {
    auto const selector = flushed_if<Ftz>(load<C>(c, i));
    store<T>(d, i, selector >= C{0} ? load<T>(a, i) : load<T>(b, i));
  });
}

void decode_slct(decoding& d)
{
  auto const selector_type = d.take_type();
  auto const type = d.take_type();
  auto const ftz = d.take("ftz");
  if (selector_type != type::s32 && selector_type != type::f32) d.refuse();
  if (ftz && selector_type != type::f32) d.refuse();
  auto const run = for_bits(d, size_of(type), [&]<typename T>() -> handler {
    if (ftz) return for_host<&slct<T, float, true>>();
    return selector_type == type::f32 ? for_host<&slct<T, float, false>>()
                                      : for_host<&slct<T, std::int32_t, false>>();
  });
  d.emit(run, type, {type, type, selector_type});
}

template <typename F>
bool is_class(F value, std::string_view name) noexcept
{
  if (name == "finite") return std::isfinite(value);
  if (name == "infinite") return std::isinf(value);
  if (name == "number") return !std::isnan(value);
  if (name == "notanumber") return std::isnan(value);
  if (name == "normal") return std::isnormal(value) || value == 0;
  return std::fpclassify(value) == FP_SUBNORMAL;
}

constexpr std::array<std::string_view, 6> k_classes{"finite",     "infinite", "number",
                                                    "notanumber", "normal",   "subnormal"};

template <typename F>
void testp(warp& w, operation const& o, lane_mask mask)
{
  auto const* const a = w.at(o.a);
  lane_mask bits = 0;
  for (unsigned i = 0; i < k_lanes; ++i)
    bits |= static_cast<lane_mask>(is_class(load<F>(a, i), k_classes[o.flags])) << i;
  w.set_predicate(o.d, bits, mask);
}

void decode_testp(decoding& d)
{
  auto const type = d.take_type();
  if (type != type::f32 && type != type::f64) d.refuse();
  d.expect_count(2, 2);
  for (std::uint32_t i = 0; i < k_classes.size(); ++i) {
    if (!d.take(k_classes[i])) continue;
    auto const a = d.source(1, type);
    auto const result = d.predicate_destination(d.operand(0));
    auto& o = d.emit(type == type::f64 ? for_host<&testp<double>>() : for_host<&testp<float>>());
    o.d = result;
    o.a = a;
    o.flags = i;
    return;
  }
  d.refuse();
}

}  // namespace

void add_select(decode_table& table)
{
  table["selp"] = &decode_selp;
  table["slct"] = &decode_slct;
  table["testp"] = &decode_testp;
}

}  // namespace fatlink::interpreter
