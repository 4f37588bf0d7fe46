// SPDX-License-Identifier: Apache-2.0
#include "cache/ledger.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

#include "cache/folder.hpp"
#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"
#include "util/text/sequence.hpp"

namespace fatlink::cache {
namespace {

// The format of the ledger. Little-endian, without padding, always 1,124 bytes.
//
// <ledger>     ::= <magic> <version> <counted> <numbers> <last fault> <check>
// <magic>      ::= "FLNKLEDG"
// <version>    ::= u32; 1: the first
// <counted>    ::= u32; 1: <bytes> is known
// <numbers>    ::= 6 x u64: bytes, hits, misses, stored, evicted, faults
// <last fault> ::= u32 1024, then 1,024 bytes: text, padded with NUL
// <check>      ::= 32 bytes: SHA-256 of everything before it
constexpr char const* k_file = "ledger";
constexpr std::string_view k_ledger_magic = "FLNKLEDG";
constexpr std::uint32_t k_version = 1;
constexpr std::size_t k_ledger_check_size = std::tuple_size_v<digest256>;
constexpr std::uint64_t k_largest_ledger = 4096;  // bytes
constexpr std::size_t k_fault_size = 1024;

figures decode(bytes_view content)
{
  detail::sequence_reader reader(content);
  (void)reader.view(k_ledger_magic.size());
  figures result;
  if (reader.number<std::uint32_t>() != k_version) return result;
  auto const is_counted = reader.number<std::uint32_t>() == 1;
  for (auto* number : {&result.bytes, &result.hits, &result.misses, &result.stored, &result.evicted,
                       &result.faults})
    *number = reader.number<std::uint64_t>();
  result.last_fault = reader.text();
  result.last_fault.resize(std::min(result.last_fault.find('\0'), result.last_fault.size()));
  result.counted = is_counted;
  return result;
}

std::optional<figures> read_valid_ledger(folder const& cache_folder)
{
  auto const bytes = cache_folder.read(k_file, k_largest_ledger);
  if (!bytes || bytes->size() < k_ledger_check_size) return std::nullopt;
  auto const content = bytes_view(*bytes).first(bytes->size() - k_ledger_check_size);
  auto const digest = detail::sha256(content);
  if (!std::equal(digest.begin(), digest.end(), bytes->end() - k_ledger_check_size))
    return std::nullopt;
  try {
    return decode(content);
  } catch (detail::sequence_error const&) {
    return std::nullopt;
  }
}

}  // namespace

figures read_ledger(folder const& cache_folder)
{
  return read_valid_ledger(cache_folder).value_or(figures{});
}

namespace {

/// Whether there is a valid ledger. @throws folder_error
bool has_ledger(folder const& cache_folder)
{
  return read_valid_ledger(cache_folder).has_value();
}

}  // namespace

void write_ledger(folder const& cache_folder, figures const& figures)
{
  detail::sequence_writer writer;
  writer.raw(k_ledger_magic.data(), k_ledger_magic.size());
  writer.number(k_version);
  writer.number(static_cast<std::uint32_t>(figures.counted));
  for (auto const number : {figures.bytes, figures.hits, figures.misses, figures.stored,
                            figures.evicted, figures.faults})
    writer.number(number);
  // The ledger always has the same size, so that one write in place replaces it.
  auto last_fault = figures.last_fault.substr(0, k_fault_size);
  last_fault.resize(k_fault_size, '\0');
  writer.text(last_fault);
  auto const check = detail::sha256(writer.made());
  writer.raw(check.data(), check.size());
  cache_folder.write_over(k_file, writer.made());
}

namespace {

constexpr std::string_view k_tag =
    "Signature: 8a477f597d28d172789f06886806bc55\n# fatlink's linked images; safe to remove.\n";
constexpr std::string_view k_tag_start = k_tag.substr(0, k_tag.find(';'));
constexpr std::uint64_t k_largest_tag = 4096;  // bytes

/// Whether a process may have left the file `name` when it died while claiming the folder. Earlier
/// versions created the lock, which is always empty, and the ledger before the tag.
bool is_part_of_claim(folder const& cache_folder, std::string const& name)
{
  auto const file = cache_folder.facts(name);
  if (!file) return false;
  if (name == "lock") return file->size == 0;
  return name == "ledger" ? has_ledger(cache_folder) : target_of_temporary_file(name) == k_tag_file;
}

/// The name of a file that is not the cache's; empty if there is none.
std::string find_foreign_file(folder const& cache_folder)
{
  for (auto const& name : cache_folder.names())
    if (!is_part_of_claim(cache_folder, name)) return name;
  return {};
}

[[noreturn]] void fail_foreign_file(folder const& cache_folder, std::string const& name)
{
  throw folder_error{
      detail::format("{} holds files that are not the cache's ({}): use another folder "
                     "(FATLINK_CACHE_DIR)",
                     cache_folder.path().string(), name),
      ENOTEMPTY};
}

}  // namespace

bool is_claimed(folder const& cache_folder)
{
  auto const tag = cache_folder.read(k_tag_file, k_largest_tag);
  if (!tag) cache_folder.check_writers(k_tag_file);
  return tag && tag->size() >= k_tag_start.size() &&
         std::equal(k_tag_start.begin(), k_tag_start.end(), tag->begin(),
                    [](char expected, std::byte actual) {
                      return expected == std::to_integer<char>(actual);
                    });
}

bool holds_cache(folder const& cache_folder)
{
  if (is_claimed(cache_folder)) return true;
  auto const foreign_file = find_foreign_file(cache_folder);
  if (foreign_file.empty()) return false;
  if (is_claimed(cache_folder)) return true;  // another process claimed it meanwhile
  fail_foreign_file(cache_folder, foreign_file);
}

void claim(folder const& cache_folder)
{
  if (holds_cache(cache_folder)) return;
  try {
    cache_folder.write(k_tag_file, std::as_bytes(std::span(k_tag)));
  } catch (folder_error const&) {
    // Another process may have claimed the folder meanwhile and removed the temporary file.
    if (!is_claimed(cache_folder)) throw;
  }
}

}  // namespace fatlink::cache
