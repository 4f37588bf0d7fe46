// SPDX-License-Identifier: Apache-2.0
#include "compiler/headers/standard_headers.hpp"

#include <algorithm>
#include <iterator>

#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// Also with --minimal, where the compiler declares no size_t.
constexpr std::string_view k_stddef = R"(#ifndef FATLINK_STDDEF
#define FATLINK_STDDEF
typedef unsigned long size_t;
typedef long ptrdiff_t;
#ifndef NULL
#define NULL 0
#endif
#if !defined(offsetof)
#define offsetof(type, member) (::size_t) ((char*) &(((type*) 0)->member) - (char*) 0)
#endif
#endif
)";

constexpr std::string_view k_cstddef = R"(#ifndef FATLINK_CSTDDEF
#define FATLINK_CSTDDEF
namespace std {
#if __cplusplus >= 201103L
typedef decltype(nullptr) nullptr_t;
#endif
typedef long double max_align_t;
using ::ptrdiff_t;
using ::size_t;
}
#endif
)";

constexpr std::string_view k_limits = R"(#ifndef FATLINK_LIMITS
#define FATLINK_LIMITS
#ifndef CHAR_BIT
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#if '\xff' > 0
#define CHAR_MIN 0
#define CHAR_MAX UCHAR_MAX
#else
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#endif
#define SHRT_MIN (-SHRT_MAX - 1)
#define SHRT_MAX 0x7fff
#define USHRT_MAX 0xffff
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 0x7fffffff
#define UINT_MAX 0xffffffff
#define LONG_MIN (-LONG_MAX - 1)
#define LONG_MAX LLONG_MAX
#define ULONG_MAX ULLONG_MAX
#define LLONG_MIN (-LLONG_MAX - 1)
#define LLONG_MAX 0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffUL
#endif
#endif
)";

constexpr std::string_view k_float = R"(#ifndef FLT_MAX
#define FLT_RADIX 2
#define DECIMAL_DIG DBL_DECIMAL_DIG
#define FLT_ROUNDS 1
#define FLT_EVAL_METHOD 0
#define FLT_DECIMAL_DIG 9
#define FLT_MIN 1.17549435082228750796873653722224568e-38f
#define FLT_TRUE_MIN 1.40129846432481707092372958328991613e-45f
#define FLT_MAX 3.40282346638528859811704183484516925e+38f
#define FLT_EPSILON 1.19209289550781250000000000000000000e-7f
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MIN_EXP (-125)
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_EXP 128
#define FLT_MAX_10_EXP 38
#define FLT_HAS_SUBNORM 1
#define DBL_DECIMAL_DIG 17
#define DBL_MIN 2.22507385850720138309023271733240406e-308
#define DBL_TRUE_MIN 4.94065645841246544176568792868221372e-324
#define DBL_MAX 1.79769313486231570814527423731704357e+308
#define DBL_EPSILON 2.22044604925031308084726333618164062e-16
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_MIN_EXP (-1021)
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_EXP 1024
#define DBL_MAX_10_EXP 308
#define DBL_HAS_SUBNORM 1
#endif
)";

struct integer {
  char const* name;    ///< its bits: "8"
  char const* type;    ///< its C++ type
  char const* limits;  ///< of the macros of climits: "SCHAR"
};
constexpr integer k_signed[] = {{"8", "signed char", "SCHAR"},
                                {"16", "signed short", "SHRT"},
                                {"32", "signed int", "INT"},
                                {"64", "signed long long", "LLONG"}};
constexpr integer k_unsigned[] = {{"8", "unsigned char", "UCHAR"},
                                  {"16", "unsigned short", "USHRT"},
                                  {"32", "unsigned int", "UINT"},
                                  {"64", "unsigned long long", "ULLONG"}};

/// The kinds of types and macros: int8_t, int_fast8_t, int_least8_t; INT8_MAX, INT_FAST8_MAX, ….
struct kind_name {
  char const* lower;
  char const* upper;
};
constexpr kind_name k_kinds[] = {{"", ""}, {"_fast", "_FAST"}, {"_least", "_LEAST"}};

std::string types_text()
{
  std::string text;
  for (auto const* const list : {&k_signed, &k_unsigned})
    for (auto const& entry : *list)
      for (auto const& kind : k_kinds)
        text += detail::format("typedef {} {}int{}{}_t;\n", entry.type,
                               list == &k_signed ? "" : "u", kind.lower, entry.name);
  return text +
         "typedef int64_t intptr_t;\ntypedef uint64_t uintptr_t;\n"
         "typedef int64_t intmax_t;\ntypedef uint64_t uintmax_t;\n";
}

/// INT8_MIN, INT8_MAX and UINT8_MAX of each kind.
std::string limits_text()
{
  std::string text;
  for (std::size_t i = 0; i < std::size(k_signed); ++i)
    for (auto const& kind : k_kinds)
      for (std::string_view const limit : {"INT_MIN", "INT_MAX", "UINT_MAX"}) {
        auto const is_unsigned = limit.starts_with('U');
        auto const end = limit.substr(limit.size() - 4);  // "_MIN"
        auto const* const sign = is_unsigned ? "U" : "";
        auto const* const bits = k_signed[i].name;
        auto const* const limits = is_unsigned ? k_unsigned[i].limits : k_signed[i].limits;
        auto const value = *kind.upper == '\0' ? detail::format("{}{}", limits, end)
                                               : detail::format("{}INT{}{}", sign, bits, end);
        text += detail::format("#define {}INT{}{}{} {}\n", sign, kind.upper, bits, end, value);
      }
  return text + R"(#define INTPTR_MIN INT64_MIN
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MIN INT64_MIN
#define INTMAX_MAX INT64_MAX
#define UINTMAX_MAX UINT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define PTRDIFF_MAX INT64_MAX
#define SIZE_MAX UINT64_MAX
)";
}

/// INT8_C(X) and the like. `blank`: between the type and the value.
std::string constants_text(char const* blank)
{
  std::string text;
  for (auto const* const sign : {"", "u"})
    for (auto const& entry : k_signed)
      text += detail::format("#define {}INT{}_C(X) ((::{}int_least{}_t){}(X))\n",
                             *sign == '\0' ? "" : "U", entry.name, sign, entry.name, blank);
  return text + detail::format(
                    "#define INTMAX_C(X) ((::intmax_t){0}(X))\n"
                    "#define UINTMAX_C(X) ((::uintmax_t){0}(X))\n",
                    blank);
}

std::string stdint_text(std::string_view cccl_text)
{
  auto const has_blank = cccl_text.find("_t) (X))") != std::string_view::npos;
  return std::string(k_limits) + "#ifndef FATLINK_STDINT\n#define FATLINK_STDINT\n" + types_text() +
         "#ifndef INT8_MIN\n" + limits_text() + constants_text(has_blank ? " " : "") +
         "#endif\n#endif\n";
}

std::string cstdint_text(std::string_view cccl_text)
{
  auto text = stdint_text(cccl_text) +
              "#ifndef FATLINK_CSTDINT\n#define FATLINK_CSTDINT\nnamespace std {\n";
  for (auto const* const sign : {"", "u"}) {
    for (auto const& entry : k_signed)
      for (auto const& kind : k_kinds)
        text += detail::format("using ::{}int{}{}_t;\n", sign, kind.lower, entry.name);
    text += detail::format("using ::{0}intptr_t;\nusing ::{0}intmax_t;\n", sign);
  }
  return text + "}\n#endif\n";
}

}  // namespace

std::optional<std::string> standard_header_text(std::string_view name, std::string_view cccl_text)
{
  if (name == "stddef.h") return std::string(k_stddef);
  if (name == "cstddef") return std::string(k_stddef).append(k_cstddef);
  if (name == "limits.h" || name == "climits") return std::string(k_limits);
  if (name == "float.h" || name == "cfloat") return std::string(k_float);
  if (name == "stdint.h") return stdint_text(cccl_text);
  if (name == "cstdint") return cstdint_text(cccl_text);
  return std::nullopt;
}

std::string cccl_header_of(std::string_view name)
{
  auto const is_letter = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
  };
  if (name.empty() || !std::ranges::all_of(name, is_letter)) return {};
  return "cuda/std/" + std::string(name);
}

std::string cccl_header_text(std::string const& cccl_header)
{
  return detail::format(
      "#include <{}>\nnamespace cuda {{ namespace std {{}} }}\n"
      "namespace std {{\nusing namespace cuda::std;\n}}\n",
      cccl_header);
}

}  // namespace fatlink::detail
