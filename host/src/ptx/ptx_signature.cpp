// SPDX-License-Identifier: Apache-2.0
// Functions and variables of PTX as text.
#include <cstdint>

#include "fatlink/ptx_interface.hpp"

namespace fatlink {
namespace {

std::string alignment_of(unsigned align, with_alignment alignment)
{
  if (alignment == with_alignment::no || align == 0) return {};
  std::string text = "align ";
  return (text += std::to_string(align)) += ' ';
}

std::string dimension(std::uint64_t count)
{
  std::string text = "[";
  return (text += std::to_string(count)) += ']';
}

std::string describe(ptx_parameter const& parameter, with_alignment alignment)
{
  auto const text = alignment_of(parameter.align, alignment) + parameter.type;
  return parameter.count == 0 ? text : text + dimension(parameter.count);
}

/// "(b32, b64[2], ...)".
std::string describe(std::vector<ptx_parameter> const& parameters, bool is_variadic,
                     with_alignment alignment)
{
  std::string text = "(";
  for (auto const& parameter : parameters) {
    if (text.size() > 1) text += ", ";
    text += describe(parameter, alignment);
  }
  if (is_variadic) text += text.size() > 1 ? ", ..." : "...";
  return text + ")";
}

std::string dimension_of(ptx_variable const& variable)
{
  if (variable.is_unsized) return "[]";
  return variable.count == 0 ? std::string{} : dimension(variable.count);
}

}  // namespace

std::string to_string(ptx_function const& function, with_alignment alignment)
{
  if (function.is_untyped) return function.name + "(?)";
  auto const result =
      function.results.empty() ? "" : describe(function.results, false, alignment) + " ";
  return result + function.name + describe(function.parameters, function.is_variadic, alignment);
}

std::string to_string(ptx_variable const& variable, with_alignment alignment)
{
  return (variable.is_managed ? "managed " : "") + variable.space + " " +
         alignment_of(variable.align, alignment) + variable.type + " " + variable.name +
         dimension_of(variable);
}

}  // namespace fatlink
