// SPDX-License-Identifier: Apache-2.0
// The members of an ident: docs/fatbin_format.md, "Ident".
#include "fatbin/ident.hpp"

#include <cxxabi.h>
#include <nettle/base64.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "fatbin/json_file.hpp"
#include "fatbin/write_fatbin.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/ident.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/json.hpp"

namespace fatlink::detail {
namespace {

/// Whether demangling `name` is cheap: idents are untrusted, and each reference to an earlier part
/// ("S1_") may double the text.
bool is_short(std::string const& name)
{
  auto const references = std::count(name.begin(), name.end(), 'S');
  return name.size() <= limits::k_mangled_bytes &&
         static_cast<std::size_t>(references) <= limits::k_mangled_references;
}

}  // namespace

std::string demangle(std::string const& name)
{
  if (!is_short(name)) return {};
  std::unique_ptr<char, decltype(&std::free)> const text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), &std::free);
  if (!text || std::strlen(text.get()) > limits::k_demangled_bytes) return {};
  return text.get();
}

namespace {

constexpr std::string_view k_namespace = "fatlink_elements";
constexpr std::string_view k_record_prefix = "void fatlink_elements::";

/// Removes a last template argument such as ", 8ull" from `text`, and returns its number.
std::optional<std::size_t> take_last_number(std::string_view& text)
{
  auto const comma = text.rfind(", ");
  if (comma == std::string_view::npos) return std::nullopt;
  auto const digits = text.substr(comma + 2);
  std::size_t number = 0;
  auto const [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (status != std::errc{}) return std::nullopt;
  auto const suffix = digits.substr(static_cast<std::size_t>(end - digits.data()));
  if (suffix != "ull" && suffix != "ul" && !suffix.empty()) return std::nullopt;
  text.remove_suffix(text.size() - comma);
  return number;
}

/// {"load_element", {"__half", 2, 2}} of "void fatlink_elements::load_element<__half, 2ull,
/// 2ull>()"
std::optional<std::pair<std::string, ident_element>> parse_record(std::string_view declaration)
{
  constexpr std::string_view k_end = ">()";
  if (!declaration.starts_with(k_record_prefix) || !declaration.ends_with(k_end))
    return std::nullopt;
  declaration.remove_prefix(k_record_prefix.size());
  declaration.remove_suffix(k_end.size());
  auto const bracket = declaration.find('<');
  if (bracket == std::string_view::npos) return std::nullopt;
  auto type = declaration.substr(bracket + 1);
  auto const alignment = take_last_number(type);
  auto const size = take_last_number(type);
  if (!alignment || !size || !is_element_size(*size, *alignment)) return std::nullopt;
  return std::pair{
      std::string(declaration.substr(0, bracket)),
      ident_element{.type = std::string(type), .size = *size, .alignment = *alignment}};
}

}  // namespace

bool may_record_elements(std::string_view ptx) noexcept
{
  return ptx.find(k_namespace) != std::string_view::npos;
}

std::map<std::string, ident_element> element_records(ptx_interface const& interface)
{
  std::map<std::string, ident_element> records;
  std::set<std::string> ambiguous;
  for (auto const& function : interface.weak) {
    if (function.name.find(k_namespace) == std::string::npos) continue;
    auto record = parse_record(demangle(function.name));
    if (record && !records.insert(*record).second) ambiguous.insert(record->first);
  }
  for (auto const& hook : ambiguous) records.erase(hook);
  return records;
}

namespace {

/// The type of `hook`; empty where the contract does not declare it.
std::string type_of(ident const& stated, std::string const& hook)
{
  auto const entry = stated.hooks.find(hook);
  return entry == stated.hooks.end() ? std::string{} : entry->second;
}

bool both_list_hooks(ident const& a, ident const& b)
{
  return !a.hooks.empty() && !b.hooks.empty();
}

}  // namespace

std::string contract_of(ident const& stated)
{
  return detail::format("{}/{}", stated.contract, stated.version);
}

bool states_contract(std::optional<ident> const& stated)
{
  return stated && !stated->contract.empty();
}

bool same_contract(ident const& a, ident const& b)
{
  if (a.contract != b.contract || a.version != b.version) return false;
  return both_list_hooks(a, b) ? a.hooks == b.hooks : a.header_sha256 == b.header_sha256;
}

bool takes_contract(ident const& library, ident const& transform)
{
  if (library.contract == transform.contract) return true;
  auto const included = library.includes.find(transform.contract);
  return included != library.includes.end() && included->second == transform.version;
}

std::string differing_hook(ident const& a, ident const& b)
{
  if (!both_list_hooks(a, b)) return {};
  std::string name;
  for (auto const* hooks : {&a.hooks, &b.hooks})
    for (auto const& [hook, type] : *hooks)
      if (type_of(a, hook) != type_of(b, hook) && (name.empty() || hook < name)) name = hook;
  return name;
}

std::string describe_hook(ident const& stated, std::string const& hook)
{
  auto const type = type_of(stated, hook);
  return type.empty() ? detail::format("declares no {}", hook)
                      : detail::format("declares {}", hook_declaration(hook, type));
}

bool may_declare(ident const& stated, std::string const& hook)
{
  return stated.hooks.empty() || stated.hooks.contains(hook);
}

namespace {

constexpr std::uint64_t k_alignment = 8;

template <typename Number>
Number get(byte_buffer const& bytes, std::size_t offset)
{
  return byte_reader(bytes).read<Number>(offset);
}

template <typename Number>
void put(byte_buffer& bytes, std::size_t offset, Number value)
{
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

void pad_to_alignment(byte_buffer& bytes)
{
  bytes.resize((bytes.size() + k_alignment - 1) / k_alignment * k_alignment);
}

void append(byte_buffer& bytes, bytes_view addition)
{
  bytes.insert(bytes.end(), addition.begin(), addition.end());
}

/// The bytes that nvcc reserves for a text: with its NUL, padded with zeros to a multiple of 8.
std::uint32_t padded_size(std::size_t length)
{
  return static_cast<std::uint32_t>((length / k_alignment + 1) * k_alignment);
}

/// The end of the ident in `header`: the start of the options, or the end of the header.
std::uint32_t ident_end(byte_buffer const& header, std::uint32_t begin, std::uint32_t length)
{
  if (length == 0) return begin;
  auto const end = std::min<std::size_t>(begin + padded_size(length), header.size());
  auto const pair = get<std::uint32_t>(header, 0x14);
  return static_cast<std::uint32_t>(pair < begin + length ? end : std::min<std::size_t>(end, pair));
}

/// The header of an entry with another ident.
byte_buffer replace_ident(byte_buffer header, std::string_view text)
{
  auto const length = get<std::uint32_t>(header, 0x24);
  auto const begin = length == 0 ? layout::k_least_entry_header : get<std::uint32_t>(header, 0x20);
  auto const end = ident_end(header, begin, length);
  auto const grown = padded_size(text.size()) - (end - begin);  // modulo 2^32
  auto const moved = [&](std::uint32_t offset) { return offset >= end ? offset + grown : offset; };
  if (auto const pair = get<std::uint32_t>(header, 0x14); pair != 0) {
    put(header, pair, moved(get<std::uint32_t>(header, pair)));
    put(header, 0x14, moved(pair));
  }
  put(header, 0x20, begin);
  put(header, 0x24, static_cast<std::uint32_t>(text.size()));
  header.erase(header.begin() + begin, header.begin() + end);
  header.insert(header.begin() + begin, padded_size(text.size()), std::byte{0});
  std::memcpy(header.data() + begin, text.data(), text.size());
  pad_to_alignment(header);
  put(header, 0x04, static_cast<std::uint32_t>(header.size()));
  return header;
}

/// Appends the entry at `offset` of `image` with another ident; returns the offset after it.
std::uint64_t append_entry(byte_buffer& written, byte_reader const& image, std::uint64_t offset,
                           std::string_view ident)
{
  auto const size = image.read<std::uint32_t>(offset + 0x04);
  auto const payload = image.read<std::uint64_t>(offset + 0x08);
  auto const header = image.view(offset, size);
  append(written, replace_ident({header.begin(), header.end()}, ident));
  append(written, image.view(offset + size, payload));
  return offset + size + payload;
}

/// Appends the container at `offset` of `image`; returns the offset after it.
std::uint64_t append_container(byte_buffer& written, byte_reader const& image, std::uint64_t offset,
                               std::string_view ident)
{
  auto const begin = written.size();
  append(written, image.view(offset, layout::k_container_header));
  auto entry = offset + layout::k_container_header;
  auto const end = entry + image.read<std::uint64_t>(offset + 0x08);
  while (entry < end) entry = append_entry(written, image, entry, ident);
  put<std::uint64_t>(written, begin + 0x08, written.size() - begin - layout::k_container_header);
  return end;
}

std::string contract_members(ident const& stated)
{
  std::string hooks;
  for (auto const& [hook, type] : stated.hooks)
    hooks +=
        detail::format("{}{}:{}", hooks.empty() ? "" : ",", json_string(hook), json_string(type));
  std::string includes;
  for (auto const& [name, version] : stated.includes)
    includes += detail::format("{}{}:{}", includes.empty() ? ",\"includes\":{" : ",",
                               json_string(name), version);
  if (!includes.empty()) includes += "}";
  return detail::format(
      R"(,"contract":{},"version":{},"header_sha256":"{}","contract_package":{},"hooks":{{{}}}{})",
      json_string(stated.contract), stated.version, stated.header_sha256,
      json_string(stated.contract_package), hooks, includes);
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

byte_buffer write_ident(bytes_view image, std::string_view text, std::string_view name)
{
  (void)read_fatbin(image, name);  // so every offset below is inside
  byte_reader const bytes(image);
  byte_buffer written;
  for (std::uint64_t offset = 0; offset < image.size();)
    offset = append_container(written, bytes, offset, text);
  return written;
}

std::optional<std::string> decode_base64(std::string_view text)
{
  if (text.find_first_of(" \t\n\v\f\r") != std::string_view::npos)
    return std::nullopt;  // nettle skips them
  base64_decode_ctx state{};
  ::base64_decode_init(&state);
  std::string decoded(BASE64_DECODE_LENGTH(text.size()), '\0');
  auto size = decoded.size();
  auto* const bytes = reinterpret_cast<std::uint8_t*>(decoded.data());
  if (::base64_decode_update(&state, &size, bytes, text.size(), text.data()) == 0 ||
      ::base64_decode_final(&state) == 0)
    return std::nullopt;
  decoded.resize(size);
  return decoded;
}

std::string encode_base64(std::string_view bytes)
{
  std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  ::base64_encode_raw(text.data(), bytes.size(),
                      reinterpret_cast<std::uint8_t const*>(bytes.data()));
  return text;
}

}  // namespace fatlink::detail

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
          .includes = json.value("includes", std::map<std::string, int>{}),
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
