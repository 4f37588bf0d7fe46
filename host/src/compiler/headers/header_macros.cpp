// SPDX-License-Identifier: Apache-2.0
#include "compiler/headers/header_macros.hpp"

#include <utility>

#include "compiler/headers/refuse_headers.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// The compiler looks the values up as they are spelled.
void add_aliases(std::map<std::string, std::string> const& beside, std::string const& owner,
                 header_texts& texts)
{
  for (auto const& [spelled, name] : beside) {
    texts.add_alias(spelled, name);
    if (spelled != name && texts.at(spelled).alias_of != name) refuse_two_meanings(spelled, owner);
  }
}

}  // namespace

void header_macros::add(include_directives const& directives, std::string const& owner)
{
  macros_.add(directives);
  for (auto const& use : directives.uses)
    if (!use.is_call)
      places_.push_back({.owner = owner, .range = use.range, .is_certain = use.is_certain});
  if (!directives.is_complete || macros_.size() > k_most_directives)
    refuse_above_limit(detail::format("more than {} directives", k_most_directives));
}

std::vector<header_macros::value> header_macros::expand()
{
  std::vector<value> values;
  for (auto const number : macros_.expand())
    for (auto const& name : macros_.headers_of(number)) values.push_back({number, name});
  return values;
}

void header_macros::set_beside(std::size_t place, std::string const& spelled, std::string name)
{
  places_[place].beside.insert_or_assign(spelled, std::move(name));
}

void header_macros::settle(header_texts& texts)
{
  for (std::size_t number = 0; number < places_.size(); ++number) {
    auto& place = places_[number];
    place.edit.reset();
    if (place.beside.empty()) continue;
    if (macros_.headers_of(number).size() > 1)
      add_aliases(place.beside, place.owner, texts);
    else
      place.edit = {place.range, '"' + place.beside.begin()->second + '"'};
  }
}

std::map<std::string, std::vector<text_edit>> header_macros::edits() const
{
  std::map<std::string, std::vector<text_edit>> edits;
  for (auto const& place : places_)
    if (place.edit) edits[place.owner].push_back(*place.edit);
  return edits;
}

}  // namespace fatlink::detail
