// SPDX-License-Identifier: Apache-2.0
#include "fatbin/encode_ident.hpp"

#include "util/bytes/base64.hpp"
#include "util/text/format.hpp"
#include "util/text/json.hpp"

namespace fatlink::detail {
namespace {

std::string contract_members(ident const& stated)
{
  std::string hooks;
  for (auto const& [hook, type] : stated.hooks)
    hooks +=
        detail::format("{}{}:{}", hooks.empty() ? "" : ",", json_string(hook), json_string(type));
  return detail::format(
      R"(,"contract":{},"version":{},"header_sha256":"{}","contract_package":{},"hooks":{{{}}})",
      json_string(stated.contract), stated.version, stated.header_sha256,
      json_string(stated.contract_package), hooks);
}

}  // namespace

std::string encode_ident(ident const& stated)
{
  auto json = detail::format(R"({{"fatlink":{})", k_ident_format);
  if (!stated.contract.empty()) json += contract_members(stated);
  auto const add = [&](char const* name, std::string const& value) {
    if (!value.empty()) json += detail::format(R"(,"{}":{})", name, json_string(value));
  };
  add("toolkit", stated.toolkit);
  add("float", stated.float_flags);
  add("producer", stated.producer);
  add("package", stated.package);
  return encode_base64(json + "}");
}

}  // namespace fatlink::detail
