// SPDX-License-Identifier: Apache-2.0
#include "fatlink/ident.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "detail/base64.hpp"

namespace fatlink {
namespace {

/// A whole number that an int holds; 0 where there is none. A JSON number may be any.
int whole(nlohmann::json const& json, char const* name)
{
  auto const found = json.find(name);
  if (found == json.end() || !found->is_number_integer()) return 0;
  auto const value = found->get<std::int64_t>();
  return std::in_range<int>(value) ? static_cast<int>(value) : 0;
}

ident from_json(nlohmann::json const& json)
{
  return {.contract = json.value("contract", std::string{}),
          .version = whole(json, "version"),
          .header_sha256 = json.value("header_sha256", std::string{}),
          .toolkit = json.value("toolkit", std::string{}),
          .float_flags = json.value("float", std::string{}),
          .package = json.value("package", std::string{}),
          .contract_package = json.value("contract_package", std::string{})};
}

}  // namespace

std::optional<ident> parse_ident(std::string_view text) noexcept
try {
  auto const decoded = detail::decode_base64(text);
  if (!decoded || decoded->empty()) return std::nullopt;
  auto const json = nlohmann::json::parse(*decoded);
  if (!json.is_object()) return std::nullopt;
  auto const format = whole(json, "fatlink");
  if (format < 1) return std::nullopt;
  ident newer;
  newer.format = format;
  return format > k_ident_format ? newer : from_json(json);
} catch (std::exception const&) {
  return std::nullopt;  // another tool's ident, or a damaged one
}

}  // namespace fatlink
