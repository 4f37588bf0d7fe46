// SPDX-License-Identifier: Apache-2.0
// The members of an ident: docs/fatbin_format.md, "Ident".
#include "fatlink/ident.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "util/bytes/base64.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/json_depth.hpp"

namespace fatlink {
namespace {

/// A whole number that fits in an int; 0 for anything else.
int whole(nlohmann::json const& json, char const* name)
{
  auto const member = json.find(name);
  if (member == json.end() || !member->is_number_integer()) return 0;
  auto const value = member->get<std::int64_t>();
  return std::in_range<int>(value) ? static_cast<int>(value) : 0;
}

ident from_json(nlohmann::json const& json)
{
  return {.contract = json.value("contract", std::string{}),
          .version = whole(json, "version"),
          .header_sha256 = json.value("header_sha256", std::string{}),
          .toolkit = json.value("toolkit", std::string{}),
          .producer = json.value("producer", std::string{}),
          .float_flags = json.value("float", std::string{}),
          .package = json.value("package", std::string{}),
          .contract_package = json.value("contract_package", std::string{}),
          .hooks = json.value("hooks", std::map<std::string, std::string>{}),
          .opaque = json.value("opaque", std::vector<std::string>{})};
}

/// Whether demangling `type` is cheap: idents are untrusted, and each reference to an earlier part
/// ("S1_") may double the text.
bool is_short(std::string const& type)
{
  auto const references = std::count(type.begin(), type.end(), 'S');
  return type.size() <= limits::k_mangled_bytes &&
         static_cast<std::size_t>(references) <= limits::k_mangled_references;
}

/// "float (float)" for "FffE"; empty if it is not a mangled type, or is too long.
std::string demangle(std::string const& type)
{
  if (!is_short(type)) return {};
  std::unique_ptr<char, decltype(&std::free)> const text(
      abi::__cxa_demangle(type.c_str(), nullptr, nullptr, nullptr), &std::free);
  if (!text || std::strlen(text.get()) > limits::k_demangled_bytes) return {};
  return text.get();
}

}  // namespace

std::optional<ident> parse_ident(std::string_view text) noexcept
try {
  if (text.size() > limits::k_ident_bytes) return std::nullopt;
  auto const decoded = detail::decode_base64(text);
  if (!decoded || decoded->empty()) return std::nullopt;
  if (detail::is_nested_deeper(*decoded, limits::k_json_depth)) return std::nullopt;
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

std::string hook_declaration(std::string const& name, std::string const& type)
{
  auto text = demangle(type);
  auto const parameters = text.find(" (");
  // The declaration of a function that returns a function pointer has another form.
  if (parameters == std::string::npos || text.compare(parameters, 3, " (*") == 0)
    return detail::format("{}: {}", name, type);
  return text.replace(parameters, 2, " " + name + "(");
}

}  // namespace fatlink
