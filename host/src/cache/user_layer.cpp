// SPDX-License-Identifier: Apache-2.0
#include "cache/user_layer.hpp"

#include <algorithm>
#include <cerrno>

#include "cache/claim.hpp"
#include "util/text/format.hpp"

namespace fatlink::cache {
namespace {

constexpr std::uint64_t k_most_entry = std::uint64_t{1} << 30;
constexpr std::size_t k_name = 64;
constexpr auto k_patience = std::chrono::seconds(2);  // for the ledger: held for milliseconds
constexpr auto k_little_patience = std::chrono::milliseconds(200);  // where figures alone are lost
constexpr auto k_clock_skew = std::chrono::minutes(1);  // between this clock and a file server's

bool is_entry(std::string const& name)
{
  return name.size() == k_name && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Whether `file` is what a process left that died writing an entry.
bool is_orphan(folder const& in, file_facts const& file)
{
  auto const entry = written_as(file.name);
  if (!entry || !(is_entry(*entry) || *entry == k_tag_file)) return false;
  try {
    return *entry == k_tag_file || lock::try_entry(in, *entry).has_value();
  } catch (fault const&) {
    // Without locks a writer cannot be told from a dead one: nobody writes for an hour.
    auto const age = std::chrono::system_clock::now().time_since_epoch() - file.last_used;
    return std::chrono::abs(age) > std::chrono::hours(1);  // the clock may have been wrong
  }
}

std::uint64_t remove_orphans(folder const& in, std::vector<file_facts> const& files)
{
  std::uint64_t removed = 0;
  for (auto const& file : files)
    if (is_orphan(in, file) && in.remove(file.name)) ++removed;
  return removed;
}

/// Every regular file. An entry from the future, written while a clock was wrong, would be evicted
/// last: it gets the time of now.
std::vector<file_facts> list_files(folder const& in)
{
  auto files = in.list();
  auto const latest = std::chrono::system_clock::now().time_since_epoch() + k_clock_skew;
  for (auto& file : files) {
    if (!is_entry(file.name) || file.last_used <= latest) continue;
    in.mark_used(file.name);
    if (auto const marked = in.facts(file.name)) file = *marked;
  }
  return files;
}

/// Entries, the one used longest ago first.
std::vector<file_facts> entries_by_age(std::vector<file_facts> files)
{
  std::erase_if(files, [](file_facts const& file) { return !is_entry(file.name); });
  std::sort(files.begin(), files.end(),
            [](file_facts const& a, file_facts const& b) { return a.last_used < b.last_used; });
  return files;
}

std::uint64_t total_of(std::vector<file_facts> const& entries)
{
  std::uint64_t total = 0;
  for (auto const& entry : entries) total += entry.size;
  return total;
}

/// Removes the oldest of `entries` until `most` bytes are left. What was read since they were
/// listed stays. Returns the bytes left.
std::uint64_t evict(folder const& in, std::vector<file_facts> const& entries, std::uint64_t most,
                    std::uint64_t& evicted)
{
  auto total = total_of(entries);
  for (auto const& entry : entries) {
    if (total <= most) break;
    auto const now = in.facts(entry.name);
    if (now && now->last_used != entry.last_used) continue;
    if (in.remove(entry.name)) ++evicted;
    total -= entry.size;
  }
  return total;
}

lock must_lock_ledger(folder const& in)
{
  if (auto held = lock::ledger(in, k_patience)) return std::move(*held);
  throw fault{detail::format("another process holds the lock of {} and does not let go",
                             in.path().string()),
              ETIMEDOUT};
}

}  // namespace

std::optional<cached_link> read_entry(folder const& from, std::string const& name,
                                      std::string const& parts, bool mark_used)
{
  auto const bytes = from.read(name, k_most_entry, mark_used);
  if (!bytes) return std::nullopt;
  std::string why;
  auto found = decode_entry(*bytes, why);
  if (!found || found->parts != parts) return std::nullopt;
  return std::move(found->link);
}

std::optional<cached_link> user_layer::find(std::string const& name, std::string const& parts) const
{
  auto const in = folder::open(path_, folder::kind::own);
  return in ? read_entry(*in, name, parts, true) : std::nullopt;
}

std::optional<lock> user_layer::claim(std::string const& name) const
{
  auto const in = folder::make(path_, folder::kind::own);
  cache::claim(in);
  return lock::try_entry(in, name);
}

/// Counts the entries anew and evicts down to nine tenths, so that this is rarely needed. Links on
/// their way are not counted: at most one entry a writer above the limit.
std::uint64_t user_layer::make_room(folder const& in, std::uint64_t wanted, figures& now) const
{
  auto const files = list_files(in);
  remove_orphans(in, files);
  auto const entries = entries_by_age(files);
  auto const total = total_of(entries);
  if (wanted <= limit_ && total <= limit_ - wanted) return total;
  auto const most = limit_ / 10 * 9;
  return evict(in, entries, most > wanted ? most - wanted : 0, now.evicted);
}

bool user_layer::store(std::string const& name, std::string const& parts,
                       cached_link const& link) const
{
  auto const bytes = encode_entry(parts, link);
  if (bytes.size() > limit_) return false;
  auto const in = folder::make(path_, folder::kind::own);
  cache::claim(in);
  {
    auto const held = must_lock_ledger(in);
    auto now = read_ledger(in);
    // Booked before it is written: whoever dies in between leaves too high a figure, and the next
    // count mends it.
    if (!now.counted || now.bytes > limit_ - bytes.size())
      now.bytes = make_room(in, bytes.size(), now);
    now.counted = true;
    now.bytes += bytes.size();
    write_ledger(in, now);
  }
  in.write(name, bytes);
  return true;
}

void user_layer::add_figures(figures const& more) const
{
  auto const in = folder::open(path_, folder::kind::own);
  if (!in || !is_claimed(*in)) return;
  auto const held = lock::ledger(*in, k_little_patience);
  if (!held) return;
  auto now = read_ledger(*in);
  now.hits += more.hits;
  now.misses += more.misses;
  now.stored += more.stored;
  now.faults += more.faults;
  if (!more.last_fault.empty()) now.last_fault = more.last_fault;
  write_ledger(*in, now);
}

cache_statistics user_layer::statistics() const
{
  cache_statistics found;
  found.limit = limit_;
  auto const in = folder::make(path_, folder::kind::own);
  std::optional<lock> held;
  try {
    cache::claim(in);
    held = lock::ledger(in, k_little_patience);
    found.usable = true;
  } catch (fault const& why) {  // a read-only folder has figures to show, too
    found.why_not = why.message;
  }
  if (!is_claimed(in)) return found;
  auto const now = read_ledger(in);
  auto const entries = entries_by_age(in.list());
  found.entries = entries.size();
  found.bytes = total_of(entries);
  found.hits = now.hits;
  found.misses = now.misses;
  found.stored = now.stored;
  found.evicted = now.evicted;
  found.faults = now.faults;
  found.last_fault = now.last_fault;
  return found;
}

namespace {

/// How an entry is not sound; empty where it is, or is gone meanwhile.
std::string damage_of(folder const& in, std::string const& name)
try {
  auto const bytes = in.read(name, k_most_entry);
  if (!bytes && in.facts(name)) return "belongs to another user, or is too large";
  if (!bytes) return in.has(name) ? "is no file" : "";
  std::string why;
  auto const entry = decode_entry(*bytes, why);
  if (entry && name_of(entry->parts) != name) why = "is the entry of another name";
  return why;
} catch (fault const& why) {
  return why.message;
}

std::uint64_t remove_damaged(folder const& in, std::vector<damaged_entry> const& damaged)
{
  for (auto const& entry : damaged) in.remove_any(entry.file.filename().string());
  return damaged.size();
}

/// The names of entries, whatever is there, in order.
std::vector<std::string> entry_names(folder const& in)
{
  auto names = in.names();
  std::erase_if(names, [](std::string const& name) { return !is_entry(name); });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

cache_verification user_layer::verify() const
{
  cache_verification found;
  auto const in = folder::open(path_, folder::kind::own);
  if (!in || !holds_cache(*in)) return found;
  for (auto const& name : entry_names(*in)) {
    auto const why = damage_of(*in, name);
    if (why.empty())
      ++found.sound;
    else
      found.damaged.push_back({path_ / name, why});
  }
  return found;
}

cache_cleaning user_layer::prune() const
{
  cache_cleaning done;
  auto const in = folder::open(path_, folder::kind::own);
  if (!in || !holds_cache(*in)) return done;
  done.entries += remove_damaged(*in, verify().damaged);
  auto const held = must_lock_ledger(*in);
  auto now = read_ledger(*in);
  auto const files = list_files(*in);
  done.orphans = remove_orphans(*in, files);
  std::uint64_t evicted = 0;
  now.bytes = evict(*in, entries_by_age(files), limit_, evicted);
  now.counted = true;
  now.evicted += evicted;
  write_ledger(*in, now);
  done.entries += evicted;
  done.bytes_left = now.bytes;
  return done;
}

cache_cleaning user_layer::clear() const
{
  cache_cleaning done;
  auto const in = folder::open(path_, folder::kind::own);
  if (!in || !holds_cache(*in)) return done;
  auto const held = must_lock_ledger(*in);
  auto const files = in->list();
  done.orphans = remove_orphans(*in, files);
  for (auto const& name : entry_names(*in)) {
    in->remove_any(name);
    ++done.entries;
  }
  figures empty;
  empty.counted = true;
  write_ledger(*in, empty);
  return done;
}

}  // namespace fatlink::cache
