// SPDX-License-Identifier: Apache-2.0
#include "preflight/function_types.hpp"

#include <algorithm>
#include <charconv>

#include "ptx/ptx_accesses.hpp"

namespace fatlink::detail {
namespace {

/// The width of a parameter, as far as a cubin states it: scalars of at most 32 bits are alike.
struct width {
  bool is_aggregate = false;
  unsigned long bytes = 0;
  bool operator==(width const&) const = default;
};

width width_of(ptx_parameter const& parameter)
{
  constexpr unsigned long k_register_bytes = 4;
  unsigned long bits = 0;
  auto const* const text = parameter.type.data();
  auto const digits = parameter.type.find_first_of("0123456789");
  if (digits != std::string::npos)
    std::from_chars(text + digits, text + parameter.type.size(), bits);
  if (parameter.count != 0) return {true, bits / 8 * parameter.count};
  return {false, std::max(bits / 8, k_register_bytes)};
}

bool same_widths(std::vector<ptx_parameter> const& a, std::vector<ptx_parameter> const& b)
{
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto const& one, auto const& other) {
    return width_of(one) == width_of(other);
  });
}

bool same_sizes(std::vector<ptx_parameter> const& a, std::vector<ptx_parameter> const& b)
{
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto const& one, auto const& other) {
    return parameter_bytes(one) == parameter_bytes(other);
  });
}

/// Compares as much as a cubin states: nothing, or the widths.
bool same_coarsely(ptx_function const& a, ptx_function const& b)
{
  if (a.is_untyped || b.is_untyped) return true;
  return same_widths(a.results, b.results) && same_widths(a.parameters, b.parameters) &&
         a.is_variadic == b.is_variadic;
}

bool same_declaration(ptx_function const& a, ptx_function const& b)
{
  if (a.is_coarse || b.is_coarse) return same_coarsely(a, b);
  return a.results == b.results && a.parameters == b.parameters && a.is_variadic == b.is_variadic;
}

bool is_body(symbol_role role)
{
  return role != symbol_role::hook;
}

/// One is used as a float and the other as an integer.
bool access_kinds_differ(ptx_parameter const& a, ptx_parameter const& b)
{
  auto const kind_a = kind_of(a.accessed_as);
  auto const kind_b = kind_of(b.accessed_as);
  if (kind_a == scalar_kind::unknown || kind_b == scalar_kind::unknown) return false;
  return (kind_a == scalar_kind::floating) != (kind_b == scalar_kind::floating);
}

/// Compares `read`, the parameter of a body, with `passed`: compilers read 32 bits of a float as an
/// integer if the source uses its bits, and rarely 8 or 16.
type_agreement compare_read(ptx_parameter const& read, ptx_parameter const& passed)
{
  if (!access_kinds_differ(read, passed)) return type_agreement::same;
  return kind_of(read.accessed_as) == scalar_kind::narrow_integer ? type_agreement::different
                                                                  : type_agreement::uncertain;
}

type_agreement compare_parameter(function_symbol const& a, function_symbol const& b,
                                 std::size_t position)
{
  auto const& parameter_a = a.function->parameters[position];
  auto const& parameter_b = b.function->parameters[position];
  if (!is_body(a.role) && !is_body(b.role))
    return access_kinds_differ(parameter_a, parameter_b) ? type_agreement::different
                                                         : type_agreement::same;
  return std::max(is_body(a.role) ? compare_read(parameter_a, parameter_b) : type_agreement::same,
                  is_body(b.role) ? compare_read(parameter_b, parameter_a) : type_agreement::same);
}

bool results_differ(ptx_function const& a, ptx_function const& b)
{
  for (std::size_t i = 0; i < a.results.size(); ++i)
    if (access_kinds_differ(a.results[i], b.results[i])) return true;
  return false;
}

bool of_one_contract(preflight_input const& a, preflight_input const& b)
{
  return a.ident && b.ident && !a.ident->contract.empty() &&
         a.ident->contract == b.ident->contract && a.ident->version == b.ident->version;
}

/// The function with each scalar's type replaced by the type that its instructions state.
ptx_function as_accessed(ptx_function function)
{
  for (auto* list : {&function.results, &function.parameters})
    for (auto& parameter : *list)
      if (!parameter.accessed_as.empty()) parameter.type = parameter.accessed_as;
  return function;
}

}  // namespace

unsigned long parameter_bytes(ptx_parameter const& parameter)
{
  auto const scalar = ptx_parameter{.type = parameter.type, .count = 1};
  return width_of(scalar).bytes * std::max(parameter.count, 1UL);
}

type_agreement compare_types(function_symbol const& a, function_symbol const& b)
{
  auto const is_coarse = a.function->is_coarse || b.function->is_coarse;
  if (is_coarse && a.role == symbol_role::kernel)
    return same_sizes(a.function->parameters, b.function->parameters) ? type_agreement::same
                                                                      : type_agreement::different;
  if (!same_declaration(*a.function, *b.function)) return type_agreement::different;
  if (a.role == symbol_role::kernel || is_coarse) return type_agreement::same;
  if (results_differ(*a.function, *b.function)) return type_agreement::different;
  if (of_one_contract(*a.input, *b.input)) return type_agreement::same;
  auto worst = type_agreement::same;
  for (std::size_t i = 0; i < a.function->parameters.size(); ++i)
    worst = std::max(worst, compare_parameter(a, b, i));
  return worst;
}

std::pair<std::string, std::string> describe_types(ptx_function const& a, ptx_function const& b)
{
  auto const differ = [](auto const& texts) { return texts.first != texts.second; };
  if (auto texts = std::pair(to_string(a), to_string(b)); differ(texts)) return texts;
  if (auto texts = std::pair(to_string(a, with_alignment::yes), to_string(b, with_alignment::yes));
      differ(texts))
    return texts;
  return {to_string(as_accessed(a)), to_string(as_accessed(b))};
}

}  // namespace fatlink::detail
