// SPDX-License-Identifier: Apache-2.0
#include "verification/expression.hpp"

#include <muParserDLL.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <numbers>

#include "fatlink/error.hpp"
#include "util/bytes/half_float.hpp"
#include "util/files/shared_library.hpp"
#include "util/limits.hpp"
#include "util/process/immortal.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_file = "libmuparser.so.2";
constexpr char const* k_name_letters =
    "0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The functions of muParserDLL.h that are used.
struct api {
  decltype(&mupCreate) create = nullptr;
  decltype(&mupRelease) release = nullptr;
  decltype(&mupSetExpr) set_expression = nullptr;
  decltype(&mupDefineNameChars) define_name_letters = nullptr;
  decltype(&mupDefineVar) define_variable = nullptr;
  decltype(&mupDefineConst) define_constant = nullptr;
  decltype(&mupDefineFun1) define_1 = nullptr;
  decltype(&mupDefineFun2) define_2 = nullptr;
  decltype(&mupDefineFun3) define_3 = nullptr;
  decltype(&mupEval) evaluate = nullptr;
  decltype(&mupError) has_error = nullptr;
  decltype(&mupGetErrorMsg) message = nullptr;
  decltype(&mupGetErrorCode) error_number = nullptr;
  decltype(&mupGetErrorPos) error_position = nullptr;
};

[[noreturn]] void fail(std::string const& reason)
{
  throw unavailable_error(stage::verification,
                          {.message = detail::format("muParser, which evaluates references, cannot "
                                                     "be used: {}",
                                                     reason),
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
  std::string reason;
  auto const library = shared_library::open(k_file, reason);
  if (!library) fail(reason);
  api functions;
  bind(library, "mupCreate", functions.create);
  bind(library, "mupRelease", functions.release);
  bind(library, "mupSetExpr", functions.set_expression);
  bind(library, "mupDefineNameChars", functions.define_name_letters);
  bind(library, "mupDefineVar", functions.define_variable);
  bind(library, "mupDefineConst", functions.define_constant);
  bind(library, "mupDefineFun1", functions.define_1);
  bind(library, "mupDefineFun2", functions.define_2);
  bind(library, "mupDefineFun3", functions.define_3);
  bind(library, "mupEval", functions.evaluate);
  bind(library, "mupError", functions.has_error);
  bind(library, "mupGetErrorMsg", functions.message);
  bind(library, "mupGetErrorCode", functions.error_number);
  bind(library, "mupGetErrorPos", functions.error_position);
  // When muParser reads its first number, libstdc++ caches the number format of muParser's locale;
  // other threads read that cache without synchronisation. So read one number here first.
  auto* const parser = functions.create(muBASETYPE_FLOAT);
  functions.set_expression(parser, "0.5");
  functions.evaluate(parser);
  functions.release(parser);
  return functions;
}

api const& muparser()
{
  static immortal<api const> const opened(open_muparser());
  return opened.get();
}

// NaN in, NaN out, as in the arithmetic of a transform; muParser's own min and max return the other
// operand.
double nan_max(double a, double b)
{
  return std::isnan(a) || a > b ? a : b;
}
double nan_min(double a, double b)
{
  return std::isnan(a) || a < b ? a : b;
}

/// The message of a parser that has an error about one of its texts, of which the longest has
/// `longest` characters. muParser writes it to an array of 2,048 characters, which all threads
/// share, without a look at its length: a longer one ends the process. A message quotes a text
/// once.
std::string message_of(void* parser, std::size_t longest)
{
  constexpr std::size_t k_quoted = 1500;
  if (longest > k_quoted)
    return detail::format("error {} of muParser at position {}", muparser().error_number(parser),
                          muparser().error_position(parser));
  static immortal<std::mutex> const mutex;
  std::lock_guard const lock(mutex.get());
  return muparser().message(parser);
}

/// std::lgamma without the global variable for the sign, which threads would share.
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

struct function_1 {
  char const* name;
  double (*call)(double);
};
struct function_2 {
  char const* name;
  double (*call)(double, double);
};

// muParser's own abs, rint, asinh, acosh, atanh and pow lose digits, or the sign of zero.
constexpr std::array k_functions_1{
    function_1{"abs", [](double x) { return std::abs(x); }},
    function_1{"rint", [](double x) { return std::nearbyint(x); }},
    function_1{"asinh", [](double x) { return std::asinh(x); }},
    function_1{"acosh", [](double x) { return std::acosh(x); }},
    function_1{"atanh", [](double x) { return std::atanh(x); }},
    function_1{"erf", [](double x) { return std::erf(x); }},
    function_1{"erfc", [](double x) { return std::erfc(x); }},
    function_1{"exp2", [](double x) { return std::exp2(x); }},
    function_1{"expm1", [](double x) { return std::expm1(x); }},
    function_1{"log1p", [](double x) { return std::log1p(x); }},
    function_1{"cbrt", [](double x) { return std::cbrt(x); }},
    function_1{"lgamma", log_gamma},
    function_1{"tgamma", [](double x) { return std::tgamma(x); }},
    function_1{"signbit", [](double x) { return std::signbit(x) ? 1.0 : 0.0; }},
    function_1{"floor", [](double x) { return std::floor(x); }},
    function_1{"ceil", [](double x) { return std::ceil(x); }},
    function_1{"trunc", [](double x) { return std::trunc(x); }},
    function_1{"round", [](double x) { return std::round(x); }},
    function_1{"f32", [](double x) { return static_cast<double>(static_cast<float>(x)); }},
    function_1{"f16", rounded_through<half_float::binary16>},
    function_1{"bf16", rounded_through<half_float::bfloat16>},
};
constexpr std::array k_functions_2{
    function_2{"max", nan_max},
    function_2{"min", nan_min},
    function_2{"pow", [](double x, double y) { return std::pow(x, y); }},
    function_2{"hypot", [](double x, double y) { return std::hypot(x, y); }},
    function_2{"atan2", [](double y, double x) { return std::atan2(y, x); }},
    function_2{"fmod", [](double x, double y) { return std::fmod(x, y); }},
    function_2{"remainder", [](double x, double y) { return std::remainder(x, y); }},
};

double multiply_add(double a, double b, double c)
{
  return std::fma(a, b, c);
}

void define_functions(void* parser)
{
  constexpr int k_foldable = 1;  // same arguments, same result: muParser may fold constants
  for (auto const& function : k_functions_1)
    muparser().define_1(parser, function.name, function.call, k_foldable);
  for (auto const& function : k_functions_2)
    muparser().define_2(parser, function.name, function.call, k_foldable);
  muparser().define_3(parser, "fma", multiply_add, k_foldable);
}

/// Bounds what muParser allocates and how deep it nests.
void check_size(std::string const& text)
{
  if (text.size() > limits::k_expression_bytes)
    throw expression_error(detail::format("an expression of {} characters, above {}, the limit",
                                          text.size(), limits::k_expression_bytes));
  unsigned depth = 0;
  for (auto const letter : text) {
    if (letter == '(' && ++depth > limits::k_expression_depth)
      throw expression_error(detail::format("parentheses nested deeper than {}, the limit",
                                            limits::k_expression_depth));
    if (letter == ')' && depth > 0) --depth;
  }
}

}  // namespace

std::vector<std::string> const& expression_functions()
{
  static immortal<std::vector<std::string> const> const names([] {
    std::vector<std::string> list{"sin",  "cos",  "tan",  "asin",  "acos", "atan", "sinh",
                                  "cosh", "tanh", "log2", "log10", "log",  "ln",   "exp",
                                  "sqrt", "sign", "sum",  "avg",   "fma"};
    for (auto const& function : k_functions_1) list.emplace_back(function.name);
    for (auto const& function : k_functions_2) list.emplace_back(function.name);
    return list;
  }());
  return names.get();
}

std::string similar_function(std::string_view message)
{
  auto const begin = message.find('"');
  auto const end = message.rfind('"');
  auto const word = begin < end ? message.substr(begin + 1, end - begin - 1) : std::string_view();
  auto const name = std::string(word.substr(0, word.find('(')));
  auto const similar = name.empty() ? name : nearest(expression_functions(), name);
  return similar.empty() ? similar : detail::format("did you mean {}? ", similar);
}

expression::expression(std::string const& text) : parser_(muparser().create(muBASETYPE_FLOAT))
{
  check_size(text);
  muparser().define_variable(parser_.get(), "x", &x_);
  define(text);
}

expression::expression(std::string const& text, std::span<named_value const> variables)
    : parser_(muparser().create(muBASETYPE_FLOAT))
{
  check_size(text);
  muparser().define_name_letters(parser_.get(), k_name_letters);
  define(text);
  for (auto const& variable : variables) {
    longest_ = std::max(longest_, variable.name.size());
    muparser().define_variable(parser_.get(), variable.name.c_str(), variable.value);
    check();
  }
}

void expression::define(std::string const& text)
{
  longest_ = text.size();
  muparser().define_constant(parser_.get(), "pi", std::numbers::pi);
  define_functions(parser_.get());
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
    throw expression_error(message_of(parser_.get(), longest_));
}

double expression::evaluate(double x)
{
  x_ = x;
  return evaluate();
}

double expression::evaluate()
{
  auto const value = muparser().evaluate(parser_.get());
  check();
  return value;
}

}  // namespace fatlink::detail
