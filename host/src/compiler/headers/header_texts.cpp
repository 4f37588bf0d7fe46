// SPDX-License-Identifier: Apache-2.0
#include "compiler/headers/header_texts.hpp"

#include <stdexcept>
#include <utility>

#include "compiler/directives/directive_text.hpp"
#include "compiler/headers/refuse_headers.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_most_headers = 4096;  ///< with other names of them

/// An #include of the header `name`.
std::string include_of(std::string const& name)
{
  return detail::format("#include \"{}\"\n", name);
}

}  // namespace

void header_texts::insert(std::string const& name, std::string text,
                          std::optional<header_place> place)
{
  if (text.find('\0') != std::string::npos) refuse_nul(name);
  text.erase(0, text.size() - without_mark(text).size());
  auto& entry = headers_[name];
  if (!entry.text.empty() && entry.alias_of.empty())
    throw std::logic_error(detail::format("two headers have the name {}", name));
  entry = {.text = std::move(text), .place = std::move(place)};
  if (headers_.size() > k_most_headers)
    refuse_above_limit(detail::format("more than {}", k_most_headers));
  pending_.push_back(name);
}

void header_texts::add_alias(std::string const& spelled, std::string const& name)
{
  if (spelled == name || headers_.contains(spelled)) return;
  headers_[spelled] = {.text = include_of(name), .alias_of = name};
  if (headers_.size() > k_most_headers)
    refuse_above_limit(detail::format("more than {} with their other names", k_most_headers));
}

void header_texts::add_other(std::string const& name, std::string text)
{
  headers_[name].text = std::move(text);
}

std::optional<std::string> header_texts::take_pending()
{
  if (pending_.empty()) return std::nullopt;
  auto name = std::move(pending_.back());
  pending_.pop_back();
  return name;
}

std::vector<memory_header> header_texts::edited_headers(
    std::map<std::string, std::vector<text_edit>> const& others) const
{
  std::vector<memory_header> list;
  for (auto const& [name, subject] : headers_) {
    auto edits = subject.edits;
    if (auto const own = others.find(name); own != others.end())
      edits.insert(edits.end(), own->second.begin(), own->second.end());
    list.push_back({name, edited(subject.text, std::move(edits))});
  }
  return list;
}

}  // namespace fatlink::detail
