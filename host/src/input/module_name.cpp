// SPDX-License-Identifier: Apache-2.0
#include "input/module_name.hpp"

#include <algorithm>

#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

bool is_digit(char letter)
{
  return letter >= '0' && letter <= '9';
}

/// The digits that `name` ends with, after `mark`; removes both. Empty where there are none.
std::string_view take_number(std::string_view& name, char mark)
{
  auto const position = name.rfind(mark);
  if (position == std::string_view::npos) return {};
  auto const digits = name.substr(position + 1);
  if (digits.empty() || !std::ranges::all_of(digits, is_digit)) return {};
  name.remove_suffix(digits.size() + 1);
  return digits;
}

/// The position of the parenthesis that the last character closes; npos where none does.
std::size_t find_opening(std::string_view name)
{
  std::size_t depth = 0;
  for (auto position = name.size(); position-- > 0;) {
    if (name[position] == ')') ++depth;
    if (name[position] == '(' && --depth == 0) return position;
  }
  return std::string_view::npos;
}

}  // namespace

module_name parse_module_name(std::string_view name) noexcept
{
  if (name.ends_with(']')) {
    auto unit = name.substr(0, name.size() - 1);
    if (!take_number(unit, '[').empty()) name = unit;
  }
  if (!name.ends_with(')')) return {.file = name};
  auto const opening = find_opening(name);
  if (opening == std::string_view::npos || opening == 0) return {.file = name};
  auto member = name.substr(opening + 1, name.size() - opening - 2);
  auto const count = take_number(member, '#');
  return {.file = name.substr(0, opening), .member = member, .count = count};
}

std::string name_member(std::string_view file, std::string_view member, std::size_t count)
{
  return count == 1 ? detail::format("{}({})", file, member)
                    : detail::format("{}({}#{})", file, member, count);
}

}  // namespace fatlink::detail
