// SPDX-License-Identifier: Apache-2.0
#include "expression/functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "util/bytes/half_float.hpp"

namespace fatlink::detail {
namespace {

using code = expression_code;

/// std::lgamma without the global variable for the sign, which threads would share.
double log_gamma(double x)
{
  int sign = 0;
  return lgamma_r(x, &sign);
}

double sign_of(double x)
{
  if (x < 0) return -1;
  return x > 0 ? 1 : 0;
}

/// To the nearest value of a 16-bit format.
template <typename Half>
double rounded_through(double x)
{
  return half_float::to_double(half_float::round_to<Half>(x));
}

constexpr expression_function of_one(std::string_view name, double (*function)(double))
{
  return {.name = name, .of_one = function};
}
constexpr expression_function of_two(std::string_view name, double (*function)(double, double))
{
  return {.name = name, .of_two = function};
}
/// An operator between any number of arguments.
constexpr expression_function between(std::string_view name, code what)
{
  return {.name = name, .code = what, .in_formulas = true};
}
/// Of names, which a launch plan gives values.
constexpr expression_function of_plan(std::string_view name)
{
  return {.name = name, .code = code::name, .in_formulas = true, .in_references = false};
}

// clang-format off
constexpr std::array k_functions{
    between("abs", code::absolute),
    of_one("acos", [](double x) { return std::acos(x); }),
    of_one("acosh", [](double x) { return std::acosh(x); }),
    of_one("asin", [](double x) { return std::asin(x); }),
    of_one("asinh", [](double x) { return std::asinh(x); }),
    of_one("atan", [](double x) { return std::atan(x); }),
    of_two("atan2", [](double y, double x) { return std::atan2(y, x); }),
    of_one("atanh", [](double x) { return std::atanh(x); }),
    expression_function{.name = "avg", .code = code::add},
    of_one("bf16", rounded_through<half_float::bfloat16>),
    between("bit_and", code::bit_and),
    between("bit_or", code::bit_or),
    between("bit_xor", code::bit_xor),
    of_one("cbrt", [](double x) { return std::cbrt(x); }),
    expression_function{.name = "ceil", .in_formulas = true,
                        .of_one = [](double x) { return std::ceil(x); }},
    of_one("cos", [](double x) { return std::cos(x); }),
    of_one("cosh", [](double x) { return std::cosh(x); }),
    of_one("erf", [](double x) { return std::erf(x); }),
    of_one("erfc", [](double x) { return std::erfc(x); }),
    of_one("exp", [](double x) { return std::exp(x); }),
    of_one("exp2", [](double x) { return std::exp2(x); }),
    of_one("expm1", [](double x) { return std::expm1(x); }),
    of_one("f16", rounded_through<half_float::binary16>),
    of_one("f32", [](double x) { return static_cast<double>(static_cast<float>(x)); }),
    of_one("floor", [](double x) { return std::floor(x); }),
    expression_function{.name = "fma",
                        .of_three = [](double a, double b, double c) { return std::fma(a, b, c); }},
    of_two("fmod", [](double x, double y) { return std::fmod(x, y); }),
    of_two("hypot", [](double x, double y) { return std::hypot(x, y); }),
    of_one("lgamma", log_gamma),
    of_one("ln", [](double x) { return std::log(x); }),
    of_one("log", [](double x) { return std::log(x); }),
    of_one("log10", [](double x) { return std::log10(x); }),
    of_one("log1p", [](double x) { return std::log1p(x); }),
    of_one("log2", [](double x) { return std::log2(x); }),
    between("max", code::maximum),
    between("min", code::minimum),
    of_plan("occupancy"),
    of_two("pow", [](double x, double y) { return std::pow(x, y); }),
    of_two("remainder", [](double x, double y) { return std::remainder(x, y); }),
    of_one("rint", [](double x) { return std::nearbyint(x); }),
    of_one("round", [](double x) { return std::round(x); }),
    of_one("sign", sign_of),
    of_one("signbit", [](double x) { return std::signbit(x) ? 1.0 : 0.0; }),
    of_one("sin", [](double x) { return std::sin(x); }),
    of_one("sinh", [](double x) { return std::sinh(x); }),
    of_plan("sizeof"),
    of_one("sqrt", [](double x) { return std::sqrt(x); }),
    between("sum", code::add),
    of_one("tan", [](double x) { return std::tan(x); }),
    of_one("tanh", [](double x) { return std::tanh(x); }),
    of_one("tgamma", [](double x) { return std::tgamma(x); }),
    of_one("trunc", [](double x) { return std::trunc(x); }),
};
// clang-format on
static_assert(std::ranges::is_sorted(k_functions, {}, &expression_function::name));

bool serves(expression_function const& function, expression_use use) noexcept
{
  return use == expression_use::formula ? function.in_formulas : function.in_references;
}

}  // namespace

std::span<expression_function const> expression_functions() noexcept
{
  return k_functions;
}

expression_function const* find_function(std::string_view name, expression_use use) noexcept
{
  auto const* const place =
      std::ranges::lower_bound(k_functions, name, {}, &expression_function::name);
  if (place == k_functions.end() || place->name != name || !serves(*place, use)) return nullptr;
  return place;
}

std::vector<std::string> list_functions(expression_use use)
{
  std::vector<std::string> names;
  for (auto const& function : k_functions)
    if (serves(function, use)) names.emplace_back(function.name);
  return names;
}

}  // namespace fatlink::detail
