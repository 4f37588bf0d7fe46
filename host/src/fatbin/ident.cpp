// SPDX-License-Identifier: Apache-2.0
// The members of an ident: docs/fatbin_format.md, "Ident".
#include "fatlink/ident.hpp"

#include <bit>
#include <cstdint>
#include <utility>

#include "fatbin/demangle.hpp"
#include "fatbin/number_names.hpp"
#include "util/bytes/encodings.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/json.hpp"

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

/// Nothing for a member that is not an element: idents are untrusted.
std::optional<ident_element> read_element(nlohmann::json const& json)
{
  if (!json.is_object()) return std::nullopt;
  ident_element element{.type = json.value("type", std::string{}),
                        .size = json.value("size", std::size_t{0}),
                        .alignment = json.value("alignment", std::size_t{0})};
  if (element.type.empty() || !is_element_size(element.size, element.alignment))
    return std::nullopt;
  return element;
}

std::map<std::string, ident_element> read_elements(nlohmann::json const& json)
{
  std::map<std::string, ident_element> elements;
  auto const member = json.find("elements");
  if (member == json.end() || !member->is_object()) return elements;
  for (auto const& [hook, element] : member->items())
    if (auto read = read_element(element)) elements.emplace(hook, std::move(*read));
  return elements;
}

bool is_complex(std::string_view type, std::string_view component)
{
  auto const end = "::complex<" + std::string(component) + ">";
  return type.ends_with(end) && (type.starts_with("cuda::std::") || type.starts_with("thrust::"));
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
          .elements = read_elements(json),
          .opaque = json.value("opaque", std::vector<std::string>{})};
}

}  // namespace

bool is_element_size(std::size_t size, std::size_t alignment) noexcept
{
  return size >= 1 && size <= k_element_bytes && std::has_single_bit(alignment) &&
         size % alignment == 0;
}

element_type element_type_of(ident_element const& element)
{
  auto const number = detail::number_of_cpp(element.type);
  auto type = number                               ? scalar_type(*number)
              : is_complex(element.type, "float")  ? scalar_type(scalar_kind::complex64)
              : is_complex(element.type, "double") ? scalar_type(scalar_kind::complex128)
                                                   : bytes_type(element.size);
  // A type of this name may be the author's own.
  return type.size == element.size ? type : bytes_type(element.size);
}

std::optional<ident> parse_ident(std::string_view text)
try {
  if (text.size() > limits::k_ident_bytes) return std::nullopt;
  auto const decoded = detail::decode_base64(text);
  if (!decoded || decoded->empty()) return std::nullopt;
  if (detail::is_nested_deeper(*decoded, limits::k_json_depth)) return std::nullopt;
  auto const json = detail::parse_document(*decoded);
  if (!json->is_object()) return std::nullopt;
  auto const format = whole(*json, "fatlink");
  if (format < 1) return std::nullopt;
  ident newer;
  newer.format = format;
  return format > k_ident_format ? newer : from_json(*json);
} catch (nlohmann::json::exception const&) {
  return std::nullopt;  // another tool's ident, or a damaged one
}

std::string hook_declaration(std::string const& name, std::string const& type)
{
  auto text = detail::demangle(type);
  auto const parameters = text.find(" (");
  // The declaration of a function that returns a function pointer has another form.
  if (parameters == std::string::npos || text.compare(parameters, 3, " (*") == 0)
    return detail::format("{}: {}", name, type);
  return text.replace(parameters, 2, " " + name + "(");
}

}  // namespace fatlink
