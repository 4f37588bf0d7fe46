// SPDX-License-Identifier: Apache-2.0
#include "fatlink/ident.hpp"

#include <nlohmann/json.hpp>

#include "detail/base64.hpp"

namespace fatlink {
namespace {

constexpr int k_format = 1;

ident from_json(nlohmann::json const& json)
{
  return {.contract = json.value("contract", std::string{}),
          .version = json.value("version", 0),
          .header_sha256 = json.value("header_sha256", std::string{}),
          .toolkit = json.value("toolkit", std::string{}),
          .float_flags = json.value("float", std::string{})};
}

}  // namespace

std::optional<ident> parse_ident(std::string_view text) noexcept
try {
  auto const decoded = detail::decode_base64(text);
  if (!decoded || decoded->empty()) return std::nullopt;
  auto const json = nlohmann::json::parse(*decoded);
  if (json.value("fatlink", 0) != k_format) return std::nullopt;
  return from_json(json);
} catch (std::exception const&) {
  return std::nullopt;  // another tool's ident, or a damaged one
}

}  // namespace fatlink
