// SPDX-License-Identifier: Apache-2.0
#include "fatlink/reference.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>

#include "cpu/half.hpp"
#include "detail/json_file.hpp"

namespace fatlink {
namespace {

[[noreturn]] void fail(std::string const& file, std::string const& why,
                       char const* hint = detail::k_json_example)
{
  throw file_error(stage::verify, {.message = fmt::format("{}: {}", file, why),
                                   .input = file,
                                   .code = {},
                                   .log = {},
                                   .hint = hint});
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
  return cpu::to_double(cpu::rounded_to<Half>(x));
}

class evaluation {
 public:
  explicit evaluation(std::string const& expression)
  {
    parser_.DefineVar("x", &x_);
    parser_.DefineConst("pi", std::numbers::pi);
    parser_.DefineFun("max", nan_max);
    parser_.DefineFun("min", nan_min);
    define_mathematics();
    define_roundings();
    parser_.SetExpr(expression);
  }

  double at(double x)
  {
    x_ = x;
    return parser_.Eval();
  }

 private:
  void define_mathematics()
  {
    // muParser's own of these lose digits, or the sign of zero.
    parser_.DefineFun("abs", [](double x) { return std::abs(x); });
    parser_.DefineFun("rint", [](double x) { return std::nearbyint(x); });
    parser_.DefineFun("asinh", [](double x) { return std::asinh(x); });
    parser_.DefineFun("acosh", [](double x) { return std::acosh(x); });
    parser_.DefineFun("atanh", [](double x) { return std::atanh(x); });
    parser_.DefineFun("erf", [](double x) { return std::erf(x); });
    parser_.DefineFun("erfc", [](double x) { return std::erfc(x); });
    parser_.DefineFun("exp2", [](double x) { return std::exp2(x); });
    parser_.DefineFun("expm1", [](double x) { return std::expm1(x); });
    parser_.DefineFun("log1p", [](double x) { return std::log1p(x); });
    parser_.DefineFun("pow", [](double x, double y) { return std::pow(x, y); });
    parser_.DefineFun("cbrt", [](double x) { return std::cbrt(x); });
    parser_.DefineFun("hypot", [](double x, double y) { return std::hypot(x, y); });
    parser_.DefineFun("atan2", [](double y, double x) { return std::atan2(y, x); });
    parser_.DefineFun("lgamma", log_gamma);
    parser_.DefineFun("tgamma", [](double x) { return std::tgamma(x); });
    parser_.DefineFun("fma", [](double a, double b, double c) { return std::fma(a, b, c); });
    parser_.DefineFun("fmod", [](double x, double y) { return std::fmod(x, y); });
    parser_.DefineFun("remainder", [](double x, double y) { return std::remainder(x, y); });
    parser_.DefineFun("signbit", [](double x) { return std::signbit(x) ? 1.0 : 0.0; });
  }

  void define_roundings()
  {
    parser_.DefineFun("floor", [](double x) { return std::floor(x); });
    parser_.DefineFun("ceil", [](double x) { return std::ceil(x); });
    parser_.DefineFun("trunc", [](double x) { return std::trunc(x); });
    parser_.DefineFun("round", [](double x) { return std::round(x); });
    parser_.DefineFun("f32", [](double x) { return static_cast<double>(static_cast<float>(x)); });
    parser_.DefineFun("f16", rounded_through<cpu::binary16>);
    parser_.DefineFun("bf16", rounded_through<cpu::bfloat16>);
  }

  double x_ = 0;
  mu::Parser parser_;
};

template <typename Value>
Value field(nlohmann::json const& json, char const* name, std::string const& file)
{
  if (!json.contains(name)) fail(file, fmt::format("\"{}\" is missing", name));
  try {
    return json.at(name).get<Value>();
  } catch (nlohmann::json::type_error const&) {
    fail(file, fmt::format("\"{}\" is of the wrong type", name));
  }
}

void check_expression(reference const& read)
{
  try {
    evaluation(read.expression).at(0.5);
  } catch (mu::Parser::exception_type const& error) {
    fail(read.file, fmt::format("\"reference\": {}", error.GetMsg()),
         "it is an expression in x, for example \"max(0, x*x - 1)\"");
  }
}

}  // namespace

reference reference::read(std::filesystem::path const& path)
{
  auto const json = detail::read_json(path);
  auto const file = path.string();
  reference read{.name = field<std::string>(json, "name", file),
                 .summary = field<std::string>(json, "summary", file),
                 .hook = field<std::string>(json, "hook", file),
                 .expression = field<std::string>(json, "reference", file),
                 .tolerance_ulp = field<double>(json, "tolerance_ulp", file),
                 .file = file};
  if (!(read.tolerance_ulp >= 0) || std::isinf(read.tolerance_ulp))
    fail(file, "\"tolerance_ulp\" is not a number of ULP, 0 or more");
  check_expression(read);
  return read;
}

std::optional<reference> reference::beside(std::filesystem::path const& fatbin)
{
  auto path = fatbin;
  path.replace_extension(".json");
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return std::nullopt;
  // A .json may state the fatbin's digest alone.
  auto const json = detail::read_json(path);
  if (json.contains("sha256") && !json.contains("reference")) return std::nullopt;
  return read(path);
}

std::function<void(std::span<float const>, std::span<double>)> reference::evaluator() const
{
  return [parser = std::make_shared<evaluation>(expression)](std::span<float const> values,
                                                             std::span<double> expected) {
    for (std::size_t i = 0; i < values.size(); ++i)
      expected[i] = parser->at(static_cast<double>(values[i]));
  };
}

}  // namespace fatlink
