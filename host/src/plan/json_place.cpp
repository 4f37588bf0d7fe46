// SPDX-License-Identifier: Apache-2.0
#include "plan/json_place.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "fatbin/number_names.hpp"
#include "identifier.hpp"
#include "plan/plan_error.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_longest_name = 256;  // characters

}  // namespace

void json_place::fail(std::string const& cause, std::string hint) const
{
  fail_plan(*file_, path_, cause, std::move(hint));
}

void json_place::fail_unknown(char const* what, std::string_view word,
                              std::vector<std::string> const& known) const
{
  auto const similar = intended_name(known, word);
  fail(detail::format("unknown {} {}", what, in_quotes(std::string(word))),
       !similar.empty() ? detail::format("did you mean \"{}\"?", similar)
       : known.empty()  ? detail::format("there is none; remove it")
                        : detail::format("write {}{}", known.size() == 1 ? "" : "one of ",
                                         fmt::join(known, ", ")));
}

void json_place::fail_type(char const* expected) const
{
  fail(detail::format("is of type {}; expected {}", value_->type_name(), expected),
       detail::format("write {}", expected));
}

json_place json_place::below(nlohmann::json const& value, std::string const& key) const
{
  auto const name = printable_line(key);
  return {value, *file_, path_.empty() ? name : path_ + "." + name};
}

std::optional<json_place> json_place::find(char const* key) const
{
  auto const member = value_->find(key);
  if (member == value_->end()) return std::nullopt;
  return below(*member, key);
}

json_place json_place::member(char const* key) const
{
  auto place = find(key);
  if (!place)
    fail(detail::format("\"{}\" is missing", key),
         detail::format("add \"{}\"; docs/launch_plans.md describes it", key));
  return *place;
}

void json_place::check_keys(std::vector<std::string> const& keys) const
{
  if (!value_->is_object()) fail_type("an object");
  for (auto const& [key, ignored] : value_->items())
    if (std::ranges::find(keys, key) == keys.end()) fail_unknown("key", key, keys);
}

std::vector<std::pair<std::string, json_place>> json_place::members(std::size_t most) const
{
  if (!value_->is_object()) fail_type("an object");
  if (value_->size() > most)
    fail(detail::format("has {} members, above {}, the limit", value_->size(), most),
         "state fewer of them");
  std::vector<std::pair<std::string, json_place>> places;
  for (auto const& [key, member] : value_->items()) places.emplace_back(key, below(member, key));
  return places;
}

std::vector<json_place> json_place::elements(std::size_t most) const
{
  if (!value_->is_array()) fail_type("an array");
  if (value_->size() > most)
    fail(detail::format("has {} elements, above {}, the limit", value_->size(), most),
         "state fewer of them");
  std::vector<json_place> places;
  for (auto const& element : *value_)
    places.push_back({element, *file_, detail::format("{}[{}]", path_, places.size())});
  return places;
}

std::string json_place::text() const
{
  if (!value_->is_string()) fail_type("a string");
  auto const& text = value_->get_ref<std::string const&>();
  if (text.empty()) fail("is empty", "write a text");
  return text;
}

void json_place::check_identifier(std::string_view name) const
{
  if (!is_identifier(name) || name.size() > k_longest_name)
    fail(detail::format("{} is not a name", in_quotes(std::string(name))),
         "use at most 256 letters, digits and _, and no digit first");
}

std::string json_place::identifier() const
{
  auto name = text();
  check_identifier(name);
  return name;
}

std::string json_place::formula() const
{
  if (value_->is_number_integer()) return value_->dump();
  if (!value_->is_string()) fail_type("a formula: a string or a whole number");
  return text();
}

}  // namespace fatlink::detail
