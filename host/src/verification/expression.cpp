// SPDX-License-Identifier: Apache-2.0
#include "verification/expression.hpp"

#include <muParserDLL.h>

#include <cmath>
#include <numbers>

#include "fatlink/error.hpp"
#include "util/bytes/half_float.hpp"
#include "util/files/shared_library.hpp"
#include "util/limits.hpp"
#include "util/process/immortal.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_file = "libmuparser.so.2";

/// The functions of muParserDLL.h that are used.
struct api {
  decltype(&mupCreate) create = nullptr;
  decltype(&mupRelease) release = nullptr;
  decltype(&mupSetExpr) set_expression = nullptr;
  decltype(&mupDefineVar) define_variable = nullptr;
  decltype(&mupDefineConst) define_constant = nullptr;
  decltype(&mupDefineFun1) define_1 = nullptr;
  decltype(&mupDefineFun2) define_2 = nullptr;
  decltype(&mupDefineFun3) define_3 = nullptr;
  decltype(&mupEval) evaluate = nullptr;
  decltype(&mupError) has_error = nullptr;
  decltype(&mupGetErrorMsg) message = nullptr;
};

[[noreturn]] void fail(std::string const& why)
{
  throw unavailable_error(stage::verification,
                          {.message = detail::format("muParser, which evaluates references, cannot "
                                                     "be used: {}",
                                                     why),
                           .input = k_file,
                           .code = error_code::muparser_unavailable,
                           .hint = "install it (Debian, Ubuntu: libmuparser2v5)"});
}

template <typename Function>
void bind(shared_library const& library, char const* name, Function& function)
{
  function = reinterpret_cast<Function>(library.find({name}));
  if (function == nullptr) fail(detail::format("{} exports no {}", k_file, name));
}

api open_muparser()
{
  std::string why;
  auto const library = shared_library::open(k_file, why);
  if (!library) fail(why);
  api found;
  bind(library, "mupCreate", found.create);
  bind(library, "mupRelease", found.release);
  bind(library, "mupSetExpr", found.set_expression);
  bind(library, "mupDefineVar", found.define_variable);
  bind(library, "mupDefineConst", found.define_constant);
  bind(library, "mupDefineFun1", found.define_1);
  bind(library, "mupDefineFun2", found.define_2);
  bind(library, "mupDefineFun3", found.define_3);
  bind(library, "mupEval", found.evaluate);
  bind(library, "mupError", found.has_error);
  bind(library, "mupGetErrorMsg", found.message);
  // At the first number it reads, libstdc++ keeps how muParser's locale writes them; other threads
  // look for that without synchronisation. So one is read before there are any.
  auto* const parser = found.create(muBASETYPE_FLOAT);
  found.set_expression(parser, "0.5");
  found.evaluate(parser);
  found.release(parser);
  return found;
}

api const& muparser()
{
  static immortal<api const> const opened(open_muparser());
  return opened.get();
}

// Every function gives the same result for the same arguments, so muParser may fold constants.
void define(void* parser, char const* name, double (*function)(double))
{
  muparser().define_1(parser, name, function, 1);
}
void define(void* parser, char const* name, double (*function)(double, double))
{
  muparser().define_2(parser, name, function, 1);
}
void define(void* parser, char const* name, double (*function)(double, double, double))
{
  muparser().define_3(parser, name, function, 1);
}

// NaN in, NaN out, as the arithmetic of a transform would; muParser's own keep the other operand.
double nan_max(double a, double b)
{
  return std::isnan(a) || a > b ? a : b;
}
double nan_min(double a, double b)
{
  return std::isnan(a) || a < b ? a : b;
}

/// std::lgamma without its global sign, which threads would share.
double log_gamma(double x)
{
  int sign = 0;
  return lgamma_r(x, &sign);
}

/// To the nearest value of a 16-bit format.
template <typename Half>
double rounded_through(double x)
{
  return half_float::to_double(half_float::round_to<Half>(x));
}

/// Bounds what muParser allocates and how deep it nests.
void check_size(std::string const& text)
{
  if (text.size() > limits::k_expression_bytes)
    throw expression_error(format("an expression of {} characters, above {}, the limit",
                                  text.size(), limits::k_expression_bytes));
  unsigned depth = 0;
  for (auto const letter : text) {
    if (letter == '(' && ++depth > limits::k_expression_depth)
      throw expression_error(
          format("parentheses nested deeper than {}, the limit", limits::k_expression_depth));
    if (letter == ')' && depth > 0) --depth;
  }
}

}  // namespace

expression::expression(std::string const& text) : parser_(muparser().create(muBASETYPE_FLOAT))
{
  check_size(text);
  muparser().define_variable(parser_.get(), "x", &x_);
  muparser().define_constant(parser_.get(), "pi", std::numbers::pi);
  define(parser_.get(), "max", nan_max);
  define(parser_.get(), "min", nan_min);
  define_mathematics();
  define_roundings();
  muparser().set_expression(parser_.get(), text.c_str());
}

expression::~expression() = default;

void expression::releaser::operator()(void* parser) const noexcept
{
  muparser().release(parser);
}

void expression::check()
{
  if (muparser().has_error(parser_.get()) != 0)
    throw expression_error(muparser().message(parser_.get()));
}

double expression::at(double x)
{
  x_ = x;
  auto const value = muparser().evaluate(parser_.get());
  check();
  return value;
}

void expression::define_mathematics()
{
  // muParser's own of these lose digits, or the sign of zero.
  define(
      parser_.get(), "abs", +[](double x) { return std::abs(x); });
  define(
      parser_.get(), "rint", +[](double x) { return std::nearbyint(x); });
  define(
      parser_.get(), "asinh", +[](double x) { return std::asinh(x); });
  define(
      parser_.get(), "acosh", +[](double x) { return std::acosh(x); });
  define(
      parser_.get(), "atanh", +[](double x) { return std::atanh(x); });
  define(
      parser_.get(), "erf", +[](double x) { return std::erf(x); });
  define(
      parser_.get(), "erfc", +[](double x) { return std::erfc(x); });
  define(
      parser_.get(), "exp2", +[](double x) { return std::exp2(x); });
  define(
      parser_.get(), "expm1", +[](double x) { return std::expm1(x); });
  define(
      parser_.get(), "log1p", +[](double x) { return std::log1p(x); });
  define(
      parser_.get(), "pow", +[](double x, double y) { return std::pow(x, y); });
  define(
      parser_.get(), "cbrt", +[](double x) { return std::cbrt(x); });
  define(
      parser_.get(), "hypot", +[](double x, double y) { return std::hypot(x, y); });
  define(
      parser_.get(), "atan2", +[](double y, double x) { return std::atan2(y, x); });
  define(parser_.get(), "lgamma", log_gamma);
  define(
      parser_.get(), "tgamma", +[](double x) { return std::tgamma(x); });
  define(
      parser_.get(), "fma", +[](double a, double b, double c) { return std::fma(a, b, c); });
  define(
      parser_.get(), "fmod", +[](double x, double y) { return std::fmod(x, y); });
  define(
      parser_.get(), "remainder", +[](double x, double y) { return std::remainder(x, y); });
  define(
      parser_.get(), "signbit", +[](double x) { return std::signbit(x) ? 1.0 : 0.0; });
}

void expression::define_roundings()
{
  define(
      parser_.get(), "floor", +[](double x) { return std::floor(x); });
  define(
      parser_.get(), "ceil", +[](double x) { return std::ceil(x); });
  define(
      parser_.get(), "trunc", +[](double x) { return std::trunc(x); });
  define(
      parser_.get(), "round", +[](double x) { return std::round(x); });
  define(
      parser_.get(), "f32", +[](double x) { return static_cast<double>(static_cast<float>(x)); });
  define(parser_.get(), "f16", rounded_through<half_float::binary16>);
  define(parser_.get(), "bf16", rounded_through<half_float::bfloat16>);
}

}  // namespace fatlink::detail
