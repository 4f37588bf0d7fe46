// SPDX-License-Identifier: Apache-2.0
// What the digests cover: docs/fatbin_format.md, "Digests".
#include "fatbin/entry_digests.hpp"

#include <cstdint>
#include <optional>

#include "util/bytes/byte_reader.hpp"
#include "util/bytes/encodings.hpp"
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
        fail(entry, detail::format("has another ident than the {} entry", name_of(*source)));
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
    if (damaged != nullptr) fail(*damaged, "has a damaged ident");
    return nullptr;
  }

  void check_count() const
  {
    if (entries_.size() != stated_.size())
      fail(
          detail::format("holds {} entries and was built with {}", entries_.size(), stated_.size()),
          0);
  }

  void check_entry(std::size_t index) const
  {
    auto const& entry = entries_[index];
    auto const& stated = stated_[index];
    if (describe_entry(image_, entry) == stated) return;
    auto const expected = stated.substr(0, stated.find(' '));
    if (name_of(entry) != expected) fail(entry, detail::format("replaces the {} entry", expected));
    fail(entry, "does not have the bytes that it was built with");
  }

  [[noreturn]] void fail(fatbin_entry const& entry, std::string const& cause) const
  {
    fail(detail::format("the {} entry at byte {} {}", name_of(entry), entry.offset, cause),
         entry.offset);
  }
  [[noreturn]] void fail(std::string const& cause, std::uint64_t offset) const
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

}  // namespace fatlink::detail
