// SPDX-License-Identifier: Apache-2.0
#include "cache/eviction.hpp"

#include <algorithm>

#include "cache/claim.hpp"
#include "cache/lock.hpp"
#include "cache/temporary_file.hpp"

namespace fatlink::cache {
namespace {

constexpr std::size_t k_name_size = 64;
constexpr auto k_clock_skew = std::chrono::minutes(1);  // tolerated between host and file server
constexpr auto k_orphan_age = std::chrono::hours(1);

std::chrono::nanoseconds time_since_1970()
{
  return std::chrono::system_clock::now().time_since_epoch();
}

/// Whether `file` is the temporary file of a process that died. The writer of an entry holds its
/// lock. Where locks do not work, a file that is an hour old counts as left over.
bool is_orphan(folder const& cache_folder, file_facts const& file)
{
  auto const target = target_of_temporary_file(file.name);
  if (!target || !(is_entry_name(*target) || *target == k_tag_file)) return false;
  try {
    return *target == k_tag_file || lock::try_entry(cache_folder, *target).has_value();
  } catch (fault const&) {
    auto const age = time_since_1970() - file.last_used;
    return std::chrono::abs(age) > k_orphan_age;  // negative if the clock was wrong
  }
}

}  // namespace

bool is_entry_name(std::string const& name)
{
  return name.size() == k_name_size &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::vector<file_facts> list_files(folder const& cache_folder)
{
  auto files = cache_folder.list();
  auto const latest = time_since_1970() + k_clock_skew;
  for (auto& file : files) {
    if (!is_entry_name(file.name) || file.last_used <= latest) continue;
    cache_folder.mark_used(file.name);
    if (auto const facts = cache_folder.facts(file.name)) file = *facts;
  }
  return files;
}

std::vector<file_facts> entries_by_age(std::vector<file_facts> files)
{
  std::erase_if(files, [](file_facts const& file) { return !is_entry_name(file.name); });
  std::sort(files.begin(), files.end(),
            [](file_facts const& a, file_facts const& b) { return a.last_used < b.last_used; });
  return files;
}

std::uint64_t total_size(std::vector<file_facts> const& entries)
{
  std::uint64_t total = 0;
  for (auto const& entry : entries) total += entry.size;
  return total;
}

std::uint64_t remove_orphans(folder const& cache_folder, std::vector<file_facts> const& files)
{
  std::uint64_t count = 0;
  for (auto const& file : files)
    if (is_orphan(cache_folder, file) && cache_folder.remove(file.name)) ++count;
  return count;
}

eviction evict(folder const& cache_folder, std::vector<file_facts> const& entries,
               std::uint64_t limit)
{
  eviction result{.bytes_left = total_size(entries)};
  for (auto const& entry : entries) {
    if (result.bytes_left <= limit) break;
    auto const facts = cache_folder.facts(entry.name);
    if (facts && facts->last_used != entry.last_used) continue;
    if (cache_folder.remove(entry.name)) ++result.evicted;
    result.bytes_left -= entry.size;
  }
  return result;
}

}  // namespace fatlink::cache
