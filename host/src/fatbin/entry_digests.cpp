// SPDX-License-Identifier: Apache-2.0
// What the digests cover: docs/fatbin_format.md, "Digests".
#include "fatbin/entry_digests.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "fatbin/ident.hpp"
#include "fatbin/write_fatbin.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/ptx_interface.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/bytes/sha256.hpp"
#include "util/limits.hpp"
#include "util/process/immortal.hpp"
#include "util/text/format.hpp"
#include "util/text/json.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_digits = 32;
constexpr std::string_view k_ident_start = R"({"fatlink":)";
constexpr std::string_view k_check_start = R"(,"check":")";
constexpr std::string_view k_check_end = R"("})";

enum class ident_state { without_digests, damaged, intact };

/// What the ident of one entry states about all entries of the fatbin.
struct stated_digests {
  ident_state state = ident_state::without_digests;
  std::vector<std::string> entries;  ///< as describe_entry() writes them, in file order
};

std::string first_digits(digest256 const& digest)
{
  return to_hexadecimal(digest).substr(0, k_digits);
}

/// "ltoir:sm_90a"
std::string name_of(fatbin_entry const& entry)
{
  return detail::format("{}:{}", name_of(entry.kind), entry.target.name());
}

/// Whether `json` ends with the digest of what it holds before: ,"check":"<32 digits>"}
bool has_valid_check(std::string_view json)
{
  auto const size = k_check_start.size() + k_digits + k_check_end.size();
  if (json.size() < size) return false;
  auto const checked = json.substr(0, json.size() - size);
  return json.substr(checked.size()) ==
         detail::format("{}{}{}", k_check_start, short_digest(checked), k_check_end);
}

/// @throws nlohmann::json::exception `text` is not JSON, or `entries` is not a list of strings.
stated_digests parse_json(std::string const& text)
{
  auto const json = parse_document(text);
  if (!json->contains("entries") && !json->contains("check")) return {};
  if (!has_valid_check(text)) return {ident_state::damaged, {}};
  return {ident_state::intact, json->at("entries").get<std::vector<std::string>>()};
}

/// Text of another tool states no digests. Text that begins like an ident of fatlink must be one.
stated_digests parse_digests(std::string const& ident)
{
  static immortal<std::string const> const start(
      encode_base64(k_ident_start).substr(0, k_ident_start.size() / 3 * 4));
  if (!ident.starts_with(start.get())) return {};
  try {
    auto const json = decode_base64(ident);
    if (!json || encode_base64(*json) != ident) return {ident_state::damaged, {}};
    if (is_nested_deeper(*json, limits::k_json_depth)) return {ident_state::damaged, {}};
    return parse_json(*json);
  } catch (nlohmann::json::exception const&) {
    return {ident_state::damaged, {}};
  }
}

class checker {
 public:
  checker(bytes_view image, std::vector<fatbin_entry> const& entries, std::string_view name)
      : image_(image), entries_(entries), name_(name)
  {
  }

  bool check()
  {
    auto const* source = find_intact();
    if (source == nullptr) return false;
    for (auto const& entry : entries_)
      if (entry.ident_text != source->ident_text)
        fail_digest(entry, detail::format("has another ident than the {} entry", name_of(*source)));
    check_count();
    for (std::size_t index = 0; index < entries_.size(); ++index) check_entry(index);
    return true;
  }

 private:
  /// The first entry whose ident states digests and is intact; null if none states any.
  fatbin_entry const* find_intact()
  {
    fatbin_entry const* damaged = nullptr;
    for (auto const& entry : entries_) {
      auto ident = parse_digests(entry.ident_text);
      if (ident.state == ident_state::intact) {
        stated_ = std::move(ident.entries);
        return &entry;
      }
      if (ident.state == ident_state::damaged && damaged == nullptr) damaged = &entry;
    }
    if (damaged != nullptr) fail_digest(*damaged, "has a damaged ident");
    return nullptr;
  }

  void check_count() const
  {
    if (entries_.size() != stated_.size())
      fail_digest(
          detail::format("holds {} entries and was built with {}", entries_.size(), stated_.size()),
          0);
  }

  void check_entry(std::size_t index) const
  {
    auto const& entry = entries_[index];
    auto const& stated = stated_[index];
    if (describe_entry(image_, entry) == stated) return;
    auto const expected = stated.substr(0, stated.find(' '));
    if (name_of(entry) != expected)
      fail_digest(entry, detail::format("replaces the {} entry", expected));
    fail_digest(entry, "does not have the bytes that it was built with");
  }

  [[noreturn]] void fail_digest(fatbin_entry const& entry, std::string const& cause) const
  {
    fail_digest(detail::format("the {} entry at byte {} {}", name_of(entry), entry.offset, cause),
                entry.offset);
  }
  [[noreturn]] void fail_digest(std::string const& cause, std::uint64_t offset) const
  {
    throw format_error(
        offset, {.message = detail::format(
                     "{}: was damaged after it was built: {} [digest-mismatch]", name_, cause),
                 .input = std::string(name_),
                 .code = error_code::digest_mismatch,
                 .hint = "copy or fetch the file again, or build it again"});
  }

  bytes_view image_;
  std::vector<fatbin_entry> const& entries_;
  std::string_view name_;
  std::vector<std::string> stated_;
};

}  // namespace

std::string short_digest(std::string_view text)
{
  return first_digits(sha256(std::as_bytes(std::span(text))));
}

std::string describe_entry(bytes_view image, fatbin_entry const& entry)
{
  if (entry.decompressed)  // has no bytes of its own in the file
    return detail::format("{} {}", name_of(entry), first_digits(sha256(entry.payload)));
  byte_reader const bytes(image);
  auto const header = bytes.read<std::uint32_t>(entry.offset + 0x04);
  auto const payload = bytes.read<std::uint64_t>(entry.offset + 0x08);
  auto const entry_bytes = bytes.view(entry.offset, header + payload);
  auto const size = entry.ident_text.size();
  auto const ident = size == 0 ? 0 : bytes.read<std::uint32_t>(entry.offset + 0x20);
  sha256_hasher hasher;
  hasher.add(entry_bytes.first(ident));
  hasher.add(entry_bytes.subspan(ident + size));
  return detail::format("{} {}", name_of(entry), first_digits(hasher.finish()));
}

bool check_entry_digests(bytes_view image, std::vector<fatbin_entry> const& entries,
                         std::string_view name)
{
  return checker(image, entries, name).check();
}

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
  if (!ident) refuse_ident(name, "has an ident that fatlink did not write");
  if (ident->format != k_ident_format) refuse_ident(name, "has an ident from a newer fatlink");
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
