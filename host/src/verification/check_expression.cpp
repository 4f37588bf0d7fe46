// SPDX-License-Identifier: Apache-2.0
#include "verification/check_expression.hpp"

#include <algorithm>

#include "verification/expression.hpp"
#include "verification/whole_expression.hpp"

namespace fatlink::detail {
namespace {

bool begins_name(char c) noexcept
{
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool continues_name(char c) noexcept
{
  return begins_name(c) || c == '.' || (c >= '0' && c <= '9');
}

/// The end of the number or name that begins at `begin`; a number's exponent may have a sign.
std::size_t end_of_word(std::string_view text, std::size_t begin) noexcept
{
  auto const is_number = !begins_name(text[begin]);
  auto end = begin;
  while (end < text.size() && (continues_name(text[end]) ||
                               (is_number && (text[end] == '+' || text[end] == '-') &&
                                end > begin && (text[end - 1] == 'e' || text[end - 1] == 'E'))))
    ++end;
  return end;
}

}  // namespace

std::vector<std::string> variables_in(std::string_view text)
{
  std::vector<std::string> names;
  for (std::size_t i = 0; i < text.size();) {
    if (!continues_name(text[i])) {
      ++i;
      continue;
    }
    auto const end = end_of_word(text, i);
    auto const next = text.find_first_not_of(' ', end);
    auto const is_function = next != std::string_view::npos && text[next] == '(';
    std::string name(text.substr(i, end - i));
    i = end;
    if (!begins_name(name.front()) || name.front() == '_' || name == "pi" || is_function) continue;
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::string_view base_of(std::string_view name) noexcept
{
  return name.substr(0, name.find('.'));
}

void check_expression(std::string const& text, std::span<std::string const> variables)
{
  number const half{.real = 0.5, .whole = 1};
  std::vector<whole_variable> numbers;
  for (auto const& name : variables) numbers.push_back({.name = name, .value = &half});
  if (whole_expression::parse(text, numbers)) return;
  std::vector<double> values(variables.size(), 0.5);
  std::vector<named_value> reals;
  for (std::size_t i = 0; i < variables.size(); ++i)
    reals.push_back({.name = variables[i], .value = &values[i]});
  expression(text, reals).evaluate();
}

}  // namespace fatlink::detail
