// SPDX-License-Identifier: Apache-2.0
#include "fatbin/element_records.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "fatbin/demangle.hpp"

namespace fatlink::detail {
namespace {

constexpr std::string_view k_namespace = "fatlink_elements";
constexpr std::string_view k_record_prefix = "void fatlink_elements::";

/// Removes a last template argument such as ", 8ull" from `text`, and returns its number.
std::optional<std::size_t> take_last_number(std::string_view& text)
{
  auto const comma = text.rfind(", ");
  if (comma == std::string_view::npos) return std::nullopt;
  auto const digits = text.substr(comma + 2);
  std::size_t number = 0;
  auto const [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (status != std::errc{}) return std::nullopt;
  auto const suffix = digits.substr(static_cast<std::size_t>(end - digits.data()));
  if (suffix != "ull" && suffix != "ul" && !suffix.empty()) return std::nullopt;
  text.remove_suffix(text.size() - comma);
  return number;
}

/// {"load_element", {"__half", 2, 2}} of "void fatlink_elements::load_element<__half, 2ull,
/// 2ull>()"
std::optional<std::pair<std::string, ident_element>> parse_record(std::string_view declaration)
{
  constexpr std::string_view k_end = ">()";
  if (!declaration.starts_with(k_record_prefix) || !declaration.ends_with(k_end))
    return std::nullopt;
  declaration.remove_prefix(k_record_prefix.size());
  declaration.remove_suffix(k_end.size());
  auto const bracket = declaration.find('<');
  if (bracket == std::string_view::npos) return std::nullopt;
  auto type = declaration.substr(bracket + 1);
  auto const alignment = take_last_number(type);
  auto const size = take_last_number(type);
  if (!alignment || !size || !is_element_size(*size, *alignment)) return std::nullopt;
  return std::pair{
      std::string(declaration.substr(0, bracket)),
      ident_element{.type = std::string(type), .size = *size, .alignment = *alignment}};
}

}  // namespace

bool may_record_elements(std::string_view ptx) noexcept
{
  return ptx.find(k_namespace) != std::string_view::npos;
}

std::map<std::string, ident_element> element_records(ptx_interface const& interface)
{
  std::map<std::string, ident_element> records;
  std::set<std::string> ambiguous;
  for (auto const& function : interface.weak) {
    if (function.name.find(k_namespace) == std::string::npos) continue;
    auto record = parse_record(demangle(function.name));
    if (record && !records.insert(*record).second) ambiguous.insert(record->first);
  }
  for (auto const& hook : ambiguous) records.erase(hook);
  return records;
}

}  // namespace fatlink::detail
