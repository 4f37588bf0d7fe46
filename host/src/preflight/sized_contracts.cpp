// SPDX-License-Identifier: Apache-2.0
#include "preflight/sized_contracts.hpp"

#include <algorithm>
#include <filesystem>

#include "fatbin/ident.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

std::optional<sized_name> split_size(std::string_view name)
{
  auto const place = name.rfind('_');
  if (place == name.npos || place == 0 || place + 1 == name.size()) return std::nullopt;
  auto const bytes = name.substr(place + 1);
  auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!std::ranges::all_of(bytes, is_digit)) return std::nullopt;
  return sized_name{.base = name.substr(0, place), .bytes = bytes};
}

bool differ_in_size(std::string_view a, std::string_view b)
{
  auto const first = split_size(a);
  auto const second = split_size(b);
  return first && second && first->base == second->base && first->bytes != second->bytes;
}

std::string library_of_size(std::string const& file, std::string_view contract)
{
  auto const stem = std::filesystem::path(file).stem().string();
  auto const library = split_size(stem);
  auto const wanted = split_size(contract);
  if (!library || !wanted) return {};
  return detail::format("{}_{}", library->base, wanted->bytes);
}

std::string describe_elements(ident const& stated)
{
  auto const bytes = split_size(stated.contract)->bytes;
  return stated.elements.empty()
             ? detail::format("{} bytes", bytes)
             : detail::format("{} bytes ({})", bytes, stated.elements.begin()->second.type);
}

std::string size_hint(std::string const& file, ident const& library, ident const& transform)
{
  auto const name = library_of_size(file, transform.contract);
  return detail::format("pass the library for elements of {} bytes{}; or a transform for {}",
                        split_size(transform.contract)->bytes,
                        name.empty() ? ", with " + contract_of(transform) : ": " + name,
                        contract_of(library));
}

}  // namespace fatlink::detail
