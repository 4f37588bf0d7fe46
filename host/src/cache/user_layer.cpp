// SPDX-License-Identifier: Apache-2.0
#include "cache/user_layer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "cache/folder.hpp"
#include "cache/kept_sources.hpp"
#include "cache/ledger.hpp"
#include "cache/unpacked_headers.hpp"
#include "util/text/format.hpp"

namespace fatlink::cache {
namespace {

// Which files of a cache folder are entries, which are left over from processes that died, and
// which entries are removed first. Called while the ledger's lock is held. All functions throw
// folder_error.

/// The result of evict().
struct eviction {
  std::uint64_t bytes_left = 0;
  std::uint64_t evicted = 0;  ///< entries removed
};

constexpr std::size_t k_name_size = 64;
constexpr auto k_clock_skew = std::chrono::minutes(1);  // tolerated between host and file server
constexpr auto k_orphan_age = std::chrono::hours(1);

std::chrono::nanoseconds time_since_1970()
{
  return std::chrono::system_clock::now().time_since_epoch();
}

/// Whether `name` is the name of an entry: 64 hexadecimal digits.
bool is_entry_name(std::string const& name)
{
  return name.size() == k_name_size &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Whether `file` is the temporary file of a process that died. The writer of an entry holds its
/// lock. Where locks do not work, a file that is an hour old counts as left over.
bool is_orphan(folder const& cache_folder, file_facts const& file)
{
  auto const target = target_of_temporary_file(file.name);
  if (!target || !(is_entry_name(*target) || *target == k_tag_file)) return false;
  try {
    return *target == k_tag_file || lock::try_entry(cache_folder, *target).has_value();
  } catch (folder_error const&) {
    auto const age = time_since_1970() - file.last_used;
    return std::chrono::abs(age) > k_orphan_age;  // negative if the clock was wrong
  }
}

/// All regular files. An entry whose time of last use is in the future, written while a clock was
/// wrong, gets the current time; otherwise it would be evicted last.
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

/// The entries among `files`, the least recently used first.
std::vector<file_facts> entries_by_age(std::vector<file_facts> files)
{
  std::erase_if(files, [](file_facts const& file) { return !is_entry_name(file.name); });
  std::sort(files.begin(), files.end(),
            [](file_facts const& a, file_facts const& b) { return a.last_used < b.last_used; });
  return files;
}

/// The bytes of all `entries`.
std::uint64_t total_size(std::vector<file_facts> const& entries)
{
  std::uint64_t total = 0;
  for (auto const& entry : entries) total += entry.size;
  return total;
}

/// Removes the temporary files of processes that died; returns how many.
std::uint64_t remove_orphans(folder const& cache_folder, std::vector<file_facts> const& files)
{
  std::uint64_t count = 0;
  for (auto const& file : files)
    if (is_orphan(cache_folder, file) && cache_folder.remove(file.name)) ++count;
  return count;
}

/// Removes the first of `entries` until at most `limit` bytes are left. Keeps entries that were
/// used after they were listed.
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

constexpr std::uint64_t k_largest_entry = std::uint64_t{1} << 30;  // bytes
constexpr auto k_ledger_wait = std::chrono::seconds(2);            // processes hold it for ms
constexpr auto k_figures_wait = std::chrono::milliseconds(200);    // without it, figures are lost

lock lock_ledger(folder const& cache_folder)
{
  if (auto result = lock::ledger(cache_folder, k_ledger_wait)) return std::move(*result);
  throw folder_error{detail::format("another process holds the lock of {} for too long",
                                    cache_folder.path().string()),
                     ETIMEDOUT};
}

/// Why the entry `name` cannot be used; empty if it can, or if it is gone meanwhile.
std::string find_damage(folder const& cache_folder, std::string const& name)
try {
  auto const bytes = cache_folder.read(name, k_largest_entry);
  if (!bytes) cache_folder.check_writers(name);
  if (!bytes && cache_folder.facts(name)) return "it belongs to another user, or is too large";
  if (!bytes) return cache_folder.has(name) ? "it is not a regular file" : "";
  std::string reason;
  auto const entry = decode_entry(*bytes, reason);
  if (entry && name_of(entry->parts) != name) reason = "it holds the entry of another key";
  return reason;
} catch (folder_error const& failure) {
  return failure.message;
}

std::uint64_t remove_damaged(folder const& cache_folder, std::vector<damaged_entry> const& damaged)
{
  for (auto const& entry : damaged) cache_folder.remove_any(entry.file.filename().string());
  return damaged.size();
}

/// The sorted names of all entries, whatever is in their places.
std::vector<std::string> entry_names(folder const& cache_folder)
{
  auto names = cache_folder.names();
  std::erase_if(names, [](std::string const& name) { return !is_entry_name(name); });
  std::sort(names.begin(), names.end());
  return names;
}

cache_verification verify_entries(folder const& cache_folder)
{
  cache_verification result;
  for (auto const& name : entry_names(cache_folder)) {
    auto const damage = find_damage(cache_folder, name);
    if (damage.empty())
      ++result.sound;
    else
      result.damaged.push_back({cache_folder.path() / name, damage});
  }
  return result;
}

void add_ledger(cache_statistics& statistics, figures const& ledger)
{
  statistics.hits = ledger.hits;
  statistics.misses = ledger.misses;
  statistics.stored = ledger.stored;
  statistics.evicted = ledger.evicted;
  statistics.faults = ledger.faults;
  statistics.last_fault = ledger.last_fault;
}

}  // namespace

std::optional<cached_link> read_entry(folder const& cache_folder, std::string const& name,
                                      std::string const& parts, bool mark_used)
{
  auto const bytes = cache_folder.read(name, k_largest_entry, mark_used);
  if (!bytes) cache_folder.check_writers(name);
  if (!bytes) return std::nullopt;
  std::string ignored_reason;
  auto entry = decode_entry(*bytes, ignored_reason);
  if (!entry || entry->parts != parts) return std::nullopt;
  return std::move(entry->link);
}

std::optional<cached_link> user_layer::find(std::string const& name, std::string const& parts) const
{
  auto const cache_folder = folder::open(path_, folder::kind::own);
  return cache_folder ? read_entry(*cache_folder, name, parts, true) : std::nullopt;
}

std::optional<lock> user_layer::claim(std::string const& name) const
{
  auto const cache_folder = folder::make(path_, folder::kind::own);
  cache::claim(cache_folder);
  return lock::try_entry(cache_folder, name);
}

/// Counts the entries and evicts down to nine tenths of the limit, so that this is rarely needed.
/// Links that other processes are storing are not counted: the folder can exceed the limit by one
/// entry for each of them.
std::uint64_t user_layer::make_room(folder const& cache_folder, std::uint64_t size,
                                    figures& ledger) const
{
  auto const files = list_files(cache_folder);
  remove_orphans(cache_folder, files);
  auto const entries = entries_by_age(files);
  auto const total = total_size(entries);
  if (size <= limit_ && total <= limit_ - size) return total;
  auto const lower_limit = limit_ / 10 * 9;
  auto const result = evict(cache_folder, entries, lower_limit > size ? lower_limit - size : 0);
  ledger.evicted += result.evicted;
  return result.bytes_left;
}

bool user_layer::store(std::string const& name, std::string const& parts,
                       cached_link const& link) const
{
  auto const bytes = encode_entry(parts, link);
  if (bytes.size() > limit_) return false;
  auto const cache_folder = folder::make(path_, folder::kind::own);
  cache::claim(cache_folder);
  {
    auto const ledger_lock = lock_ledger(cache_folder);
    auto ledger = read_ledger(cache_folder);
    // The size is added before the entry is written: if this process dies in between, the ledger
    // states too much, which the next count corrects.
    if (!ledger.counted || ledger.bytes > limit_ - bytes.size())
      ledger.bytes = make_room(cache_folder, bytes.size(), ledger);
    ledger.counted = true;
    ledger.bytes += bytes.size();
    write_ledger(cache_folder, ledger);
  }
  cache_folder.write(name, bytes);
  return true;
}

void user_layer::add_figures(figures const& process_figures) const
{
  auto const cache_folder = folder::open(path_, folder::kind::own);
  if (!cache_folder || !is_claimed(*cache_folder)) return;
  auto const ledger_lock = lock::ledger(*cache_folder, k_figures_wait);
  if (!ledger_lock) return;
  auto ledger = read_ledger(*cache_folder);
  ledger.hits += process_figures.hits;
  ledger.misses += process_figures.misses;
  ledger.stored += process_figures.stored;
  ledger.faults += process_figures.faults;
  if (!process_figures.last_fault.empty()) ledger.last_fault = process_figures.last_fault;
  write_ledger(*cache_folder, ledger);
}

cache_statistics user_layer::statistics() const
{
  cache_statistics result;
  result.limit = limit_;
  auto const cache_folder = folder::make(path_, folder::kind::own);
  std::optional<lock> ledger_lock;
  try {
    cache::claim(cache_folder);
    ledger_lock = lock::ledger(cache_folder, k_figures_wait);
    result.usable = true;
  } catch (folder_error const& failure) {  // a read-only folder still has statistics
    result.reason = failure.message;
  }
  if (!is_claimed(cache_folder)) return result;
  auto const entries = entries_by_age(cache_folder.list());
  result.entries = entries.size();
  result.bytes = total_size(entries);
  add_ledger(result, read_ledger(cache_folder));
  return result;
}

cache_verification user_layer::verify() const
{
  auto const cache_folder = folder::open(path_, folder::kind::own);
  if (!cache_folder || !holds_cache(*cache_folder)) return {};
  auto result = verify_entries(*cache_folder);
  auto headers = verify_unpacked_headers(*cache_folder);
  result.sound += headers.sound;
  std::ranges::move(headers.damaged, std::back_inserter(result.damaged));
  return result;
}

cache_cleaning user_layer::prune() const
{
  cache_cleaning result;
  auto const cache_folder = folder::open(path_, folder::kind::own);
  if (!cache_folder || !holds_cache(*cache_folder)) return result;
  result.entries = remove_damaged(*cache_folder, verify_entries(*cache_folder).damaged) +
                   remove_damaged_headers(*cache_folder);
  auto const ledger_lock = lock_ledger(*cache_folder);
  auto ledger = read_ledger(*cache_folder);
  auto const files = list_files(*cache_folder);
  result.orphans = remove_orphans(*cache_folder, files);
  auto const eviction = evict(*cache_folder, entries_by_age(files), limit_);
  ledger.bytes = eviction.bytes_left;
  ledger.counted = true;
  ledger.evicted += eviction.evicted;
  write_ledger(*cache_folder, ledger);
  result.entries += eviction.evicted;
  result.bytes_left = eviction.bytes_left;
  return result;
}

cache_cleaning user_layer::clear() const
{
  cache_cleaning result;
  auto const cache_folder = folder::open(path_, folder::kind::own);
  if (!cache_folder || !holds_cache(*cache_folder)) return result;
  auto const ledger_lock = lock_ledger(*cache_folder);
  result.orphans = remove_orphans(*cache_folder, cache_folder->list());
  for (auto const& name : entry_names(*cache_folder)) {
    cache_folder->remove_any(name);
    ++result.entries;
  }
  remove_unpacked_headers(*cache_folder);
  remove_kept_sources(*cache_folder);
  write_ledger(*cache_folder, {.counted = true});
  return result;
}

}  // namespace fatlink::cache
