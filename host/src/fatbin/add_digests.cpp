// SPDX-License-Identifier: Apache-2.0
#include "fatbin/add_digests.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "fatbin/element_records.hpp"
#include "fatbin/entry_digests.hpp"
#include "fatbin/write_ident.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/ptx_interface.hpp"
#include "util/bytes/base64.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

[[noreturn]] void refuse_ident(std::string_view name, char const* cause)
{
  throw file_error(stage::fatbin,
                   {.message = detail::format("{}: {}: no digests are added to it", name, cause),
                    .input = std::string(name),
                    .code = error_code::foreign_ident,
                    .hint = "build it again without -ident, or with fatlink_add_fatbin"});
}

/// The ident of every entry as JSON, its members in their order, without digests.
nlohmann::ordered_json read_ident(std::vector<fatbin_entry> const& entries, std::string_view name)
{
  auto const& text = entries.front().ident_text;
  for (auto const& entry : entries)
    if (entry.ident_text != text) refuse_ident(name, "its entries have different idents");
  if (text.empty()) return {{"fatlink", k_ident_format}};
  auto const ident = parse_ident(text);
  if (!ident) refuse_ident(name, "has an ident that is not of fatlink");
  if (ident->format != k_ident_format) refuse_ident(name, "has an ident of a newer fatlink");
  auto json = nlohmann::ordered_json::parse(*decode_base64(text));
  json.erase("elements");
  json.erase("entries");
  json.erase("check");
  return json;
}

/// Adds what FATLINK_ELEMENT recorded in the PTX of `entries`.
void add_elements(nlohmann::ordered_json& json, std::vector<fatbin_entry> const& entries,
                  std::string_view name)
{
  auto const is_ptx = [](fatbin_entry const& entry) { return entry.kind == entry_kind::ptx; };
  auto const entry = std::ranges::find_if(entries, is_ptx);
  if (entry == entries.end()) return;
  auto const ptx = read_ptx(*entry, name);
  if (!may_record_elements(ptx)) return;
  nlohmann::ordered_json elements;
  for (auto const& [hook, element] : element_records(read_ptx_interface(ptx, name)))
    elements[hook] = {
        {"type", element.type}, {"size", element.size}, {"alignment", element.alignment}};
  if (!elements.empty()) json["elements"] = std::move(elements);
}

std::string write_json(nlohmann::ordered_json json, std::vector<std::string> const& digests)
{
  json["entries"] = digests;
  auto text = json.dump();
  text.pop_back();  // the closing brace
  return detail::format(R"({},"check":"{}"}})", text, short_digest(text));
}

/// Digests of `image`, whose ident has its final length.
std::vector<std::string> describe_entries(bytes_view image, std::string_view name)
{
  std::vector<std::string> digests;
  for (auto const& entry : read_fatbin(image, name))
    digests.push_back(describe_entry(image, entry));
  return digests;
}

}  // namespace

byte_buffer add_digests(bytes_view image, std::string_view name)
{
  auto const entries = read_fatbin(image, name);
  auto json = read_ident(entries, name);
  add_elements(json, entries, name);
  auto const add = [&](bytes_view source, std::vector<std::string> const& digests) {
    return write_ident(source, encode_base64(write_json(json, digests)), name);
  };
  // A digest covers the sizes in its entry's header, and with them the length of the ident.
  auto const sized = add(image, describe_entries(image, name));
  return add(sized, describe_entries(sized, name));
}

}  // namespace fatlink::detail
