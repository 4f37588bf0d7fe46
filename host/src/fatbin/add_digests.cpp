// SPDX-License-Identifier: Apache-2.0
#include "fatbin/add_digests.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "fatbin/element_records.hpp"
#include "fatbin/entry_digests.hpp"
#include "fatbin/write_fatbin.hpp"
#include "fatbin/write_ident.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/ptx_interface.hpp"
#include "util/bytes/encodings.hpp"
#include "util/text/format.hpp"
#include "util/text/json.hpp"

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

bool is_white(char letter) noexcept
{
  return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

/// The members of the JSON object `text` as they are written there, with their keys.
std::vector<std::string> members_of(std::string_view text)
{
  std::vector<std::string> members(1);
  auto const begin = text.find('{') + 1;
  unsigned depth = 0;
  bool in_string = false;
  bool is_escaped = false;
  for (auto const letter : text.substr(begin, text.rfind('}') - begin)) {
    if (!in_string) depth += letter == '{' || letter == '[' ? 1 : 0;
    if (!in_string) depth -= letter == '}' || letter == ']' ? 1 : 0;
    if (letter == '"' && !is_escaped) in_string = !in_string;
    is_escaped = letter == '\\' && !is_escaped;
    if (letter == ',' && depth == 0 && !in_string)
      members.emplace_back();
    else if (in_string || letter == '"' || !is_white(letter))
      members.back() += letter;
  }
  return members;
}

/// The members of the ident of every entry, in their order, without digests.
std::vector<std::string> read_ident(std::vector<fatbin_entry> const& entries, std::string_view name)
{
  auto const& text = entries.front().ident_text;
  for (auto const& entry : entries)
    if (entry.ident_text != text) refuse_ident(name, "its entries have different idents");
  if (text.empty()) return {detail::format(R"("fatlink":{})", k_ident_format)};
  auto const ident = parse_ident(text);
  if (!ident) refuse_ident(name, "has an ident that is not of fatlink");
  if (ident->format != k_ident_format) refuse_ident(name, "has an ident of a newer fatlink");
  auto members = members_of(*decode_base64(text));
  std::erase_if(members, [](std::string const& member) {
    return member.starts_with(R"("elements":)") || member.starts_with(R"("entries":)") ||
           member.starts_with(R"("check":)");
  });
  return members;
}

/// What FATLINK_ELEMENT recorded in the PTX of `entries`; empty: nothing.
std::string elements_of(std::vector<fatbin_entry> const& entries, std::string_view name)
{
  auto const is_ptx = [](fatbin_entry const& entry) { return entry.kind == entry_kind::ptx; };
  auto const entry = std::ranges::find_if(entries, is_ptx);
  if (entry == entries.end()) return {};
  auto const ptx = read_ptx(*entry, name);
  if (!may_record_elements(ptx)) return {};
  std::string elements;
  for (auto const& [hook, element] : element_records(read_ptx_interface(ptx, name)))
    elements += detail::format(R"({}{}:{{"type":{},"size":{},"alignment":{}}})",
                               elements.empty() ? "" : ",", json_string(hook),
                               json_string(element.type), element.size, element.alignment);
  return elements.empty() ? elements : detail::format(R"("elements":{{{}}})", elements);
}

std::string write_json(std::vector<std::string> const& members,
                       std::vector<std::string> const& digests)
{
  std::string entries;
  for (auto const& digest : digests)
    entries += detail::format("{}{}", entries.empty() ? "" : ",", json_string(digest));
  auto const text = detail::format(R"({{{},"entries":[{}])", fmt::join(members, ","), entries);
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
  // Concatenated entries have no ident each, so they are written one by one.
  if (std::ranges::any_of(entries,
                          [](fatbin_entry const& entry) { return entry.decompressed != nullptr; }))
    return add_digests(write_fatbin(std::span(entries)), name);
  auto members = read_ident(entries, name);
  if (auto elements = elements_of(entries, name); !elements.empty())
    members.push_back(std::move(elements));
  auto const add = [&](bytes_view source, std::vector<std::string> const& digests) {
    return write_ident(source, encode_base64(write_json(members, digests)), name);
  };
  // A digest covers the sizes in its entry's header, and with them the length of the ident.
  auto const sized = add(image, describe_entries(image, name));
  return add(sized, describe_entries(sized, name));
}

}  // namespace fatlink::detail
