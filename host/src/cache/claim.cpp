// SPDX-License-Identifier: Apache-2.0
#include "cache/claim.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

#include "cache/ledger.hpp"
#include "cache/temporary_file.hpp"
#include "util/text/format.hpp"

namespace fatlink::cache {
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

[[noreturn]] void refuse(folder const& cache_folder, std::string const& name)
{
  throw fault{detail::format("{} holds files that are not the cache's ({}): use another folder "
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
  refuse(cache_folder, foreign_file);
}

void claim(folder const& cache_folder)
{
  if (holds_cache(cache_folder)) return;
  try {
    cache_folder.write(k_tag_file, std::as_bytes(std::span(k_tag)));
  } catch (fault const&) {
    // Another process may have claimed the folder meanwhile and removed the temporary file.
    if (!is_claimed(cache_folder)) throw;
  }
}

}  // namespace fatlink::cache
