// SPDX-License-Identifier: Apache-2.0
// Functions and variables of PTX as text.
#include <fmt/ranges.h>

#include "fatlink/ptx_interface.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

std::string alignment_of(unsigned align, with_alignment alignment)
{
  if (alignment == with_alignment::no || align == 0) return {};
  return detail::format("align {} ", align);
}

std::string describe(ptx_parameter const& parameter, with_alignment alignment)
{
  auto const text = alignment_of(parameter.align, alignment) + parameter.type;
  return parameter.count == 0 ? text : detail::format("{}[{}]", text, parameter.count);
}

std::vector<std::string> describe(std::vector<ptx_parameter> const& parameters,
                                  with_alignment alignment)
{
  std::vector<std::string> texts;
  for (auto const& parameter : parameters) texts.push_back(describe(parameter, alignment));
  return texts;
}

std::string dimension_of(ptx_variable const& variable)
{
  if (variable.is_unsized) return "[]";
  return variable.count == 0 ? std::string{} : detail::format("[{}]", variable.count);
}

}  // namespace

std::string to_string(ptx_function const& function, with_alignment alignment)
{
  auto parameters = describe(function.parameters, alignment);
  if (function.is_variadic) parameters.emplace_back("...");
  auto const result =
      function.results.empty()
          ? std::string{}
          : detail::format("({}) ", fmt::join(describe(function.results, alignment), ", "));
  return detail::format("{}{}({})", result, function.name, fmt::join(parameters, ", "));
}

std::string to_string(ptx_variable const& variable, with_alignment alignment)
{
  return detail::format("{}{} {}{} {}{}", variable.is_managed ? "managed " : "", variable.space,
                        alignment_of(variable.align, alignment), variable.type, variable.name,
                        dimension_of(variable));
}

}  // namespace fatlink
