// SPDX-License-Identifier: Apache-2.0
#include "fatbin/sidecar_member.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "fatbin/number_names.hpp"
#include "fatlink/error.hpp"
#include "identifier.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {

void sidecar_member::fail(std::string const& cause, std::string hint) const
{
  auto const place =
      path_.empty() ? std::string() : detail::format("\"{}\" ", printable_line(path_));
  throw file_error(stage::sidecar, {.message = detail::format("{}: {}{}", file_, place, cause),
                                    .input = file_,
                                    .code = error_code::invalid_sidecar,
                                    .hint = std::move(hint)});
}

void sidecar_member::fail_unknown(char const* what, std::string_view word,
                                  std::vector<std::string> const& known) const
{
  auto const intended = intended_name(known, word);
  fail(detail::format("{}unknown {} \"{}\"", path_.empty() ? "" : "has the ", what,
                      printable_line(word)),
       intended.empty() ? detail::format("known: {}", fmt::join(known, ", "))
                        : detail::format("did you mean \"{}\"?", intended));
}

void sidecar_member::check_object() const
{
  if (!value_->is_object()) fail("is of the wrong type", "write an object: {…}");
}

void sidecar_member::check_size(std::size_t most) const
{
  if (value_->empty()) fail("is empty", "state at least one, or remove it");
  if (value_->size() > most)
    fail(detail::format("has {} members, above {}, the limit", value_->size(), most),
         "state fewer");
}

sidecar_member sidecar_member::below(nlohmann::json const& value, std::string const& key) const
{
  auto const separator = path_.empty() || key.starts_with('[') ? "" : ".";
  return {value, file_, path_ + separator + key};
}

sidecar_member sidecar_member::member(std::string const& key) const
{
  if (auto known = find(key)) return *known;
  below(*value_, key).fail("is missing", "add it; docs/fatbin_format.md lists the keys");
}

std::optional<sidecar_member> sidecar_member::find(std::string const& key) const
{
  check_object();
  auto const place = value_->find(key);
  if (place == value_->end()) return std::nullopt;
  return below(*place, key);
}

void sidecar_member::check_keys(std::vector<std::string> const& keys) const
{
  check_object();
  for (auto const& [key, value] : value_->items())
    if (std::ranges::find(keys, key) == keys.end()) fail_unknown("key", key, keys);
}

std::vector<std::pair<std::string, sidecar_member>> sidecar_member::members(std::size_t most) const
{
  check_object();
  check_size(most);
  std::vector<std::pair<std::string, sidecar_member>> list;
  for (auto const& [key, value] : value_->items()) list.emplace_back(key, below(value, key));
  return list;
}

std::vector<sidecar_member> sidecar_member::elements(std::size_t most) const
{
  if (!value_->is_array()) fail("is of the wrong type", "write an array: […]");
  check_size(most);
  std::vector<sidecar_member> list;
  for (std::size_t i = 0; i < value_->size(); ++i)
    list.push_back(below((*value_)[i], detail::format("[{}]", i)));
  return list;
}

std::string sidecar_member::text() const
{
  if (!value_->is_string()) fail("is of the wrong type", "write a string");
  return value_->get<std::string>();
}

double sidecar_member::number() const
{
  if (!value_->is_number()) fail("is of the wrong type", "write a number");
  return value_->get<double>();
}

std::string sidecar_member::identifier() const
{
  auto name = text();
  if (!is_identifier(name))
    fail(detail::format("is \"{}\", which is not a name", printable_line(name)),
         "use letters, digits and _, and no digit first");
  return name;
}

}  // namespace fatlink::detail
