// SPDX-License-Identifier: Apache-2.0
// The cache of finished links: in memory, in the user's folder and in shipped layers; and
// default_cache_settings of fatlink/cache.hpp.
#include "fatlink/cache.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <future>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "cache/user_layer.hpp"
#include "fatlink/error.hpp"
#include "fatlink/search_path.hpp"
#include "util/bytes/sha256.hpp"
#include "util/process/cancel_check.hpp"
#include "util/process/environment.hpp"
#include "util/process/fork_guard.hpp"
#include "util/process/tool_range.hpp"
#include "util/text/format.hpp"
#include "util/text/number.hpp"

namespace fatlink::cache {

/// The links that this process keeps in memory. Each key is linked by one thread at a time; other
/// threads that need it wait for the result. Failures are not kept. When the links exceed the
/// limit, those used least recently are removed. Not in an anonymous namespace: link_cache::state
/// has one. Threads: safe.
class memory_layer {
 public:
  using value = std::shared_ptr<cached_link const>;
  using clock = std::chrono::steady_clock;

  /// `limit`: bytes of all links together. The link used last is kept even if it is larger.
  explicit memory_layer(std::uint64_t limit) : limit_(limit) {}

  struct product {
    value link = {};
    bool keep = true;  ///< false: goes only to the caller that made it
  };
  struct result {
    value link = {};
    bool is_hit = false;  ///< another call made the link
  };
  /// The link of the key `parts`; if there is none, calls `make` and keeps its product. Callers
  /// that wait for another thread's `make` call their own if that one throws, is not to be kept, or
  /// has not ended at `wait_end`; what they make then is not kept.
  /// @throws what `make` throws.
  result find_or_make(std::string const& parts, std::function<product()> const& make,
                      clock::time_point wait_end = clock::time_point::max());

 private:
  struct slot {
    std::shared_future<value> link = {};
    std::uint64_t bytes = 0;                                ///< 0: a thread is making the link
    std::list<std::string const*>::iterator position = {};  ///< in used_; only if bytes is not 0
  };
  /// The link of `parts`, finished or being made. Empty if there is none: then the caller must make
  /// it and fulfil `promise`.
  std::optional<std::shared_future<value>> find_or_claim(std::string const& parts,
                                                         std::promise<value>& promise);
  void keep(std::string const& parts, value const& link);
  void forget(std::string const& parts);
  void shrink();

  std::uint64_t limit_;
  std::mutex mutex_;
  std::unordered_map<std::string, slot> slots_;
  std::list<std::string const*>
      used_;  ///< keys of the finished slots, the most recently used first
  std::uint64_t bytes_ = 0;
  /// Forgets unfinished links in a forked child: the threads that make them are the parent's.
  detail::fork_guard fork_guard_{
      detail::fork_order::memory_layer, mutex_,
      [this] { std::erase_if(slots_, [](auto const& named) { return named.second.bytes == 0; }); }};
};

namespace {

/// Returns whether `link` is ready at `end`. The largest time point would overflow in wait_until.
/// @throws cancelled_error
bool wait(std::shared_future<memory_layer::value> const& link, memory_layer::clock::time_point end)
{
  using detail::k_ask_interval;
  auto const is_endless = end == memory_layer::clock::time_point::max();
  if (!detail::may_be_cancelled())
    return is_endless || link.wait_until(end) == std::future_status::ready;
  while (link.wait_for(k_ask_interval) != std::future_status::ready) {
    if (!is_endless && memory_layer::clock::now() >= end) return false;
    detail::throw_if_cancelled(stage::cache);
  }
  return true;
}

}  // namespace

memory_layer::result memory_layer::find_or_make(std::string const& parts,
                                                std::function<product()> const& make,
                                                clock::time_point wait_end)
{
  std::promise<value> promise;
  while (auto const pending = find_or_claim(parts, promise)) {
    if (!wait(*pending, wait_end)) return {make().link, false};
    if (auto link = pending->get()) return {std::move(link), true};
  }
  // No link: it does not exist, or the thread that was making it failed or did not keep it.
  product made_link;
  try {
    made_link = make();
  } catch (...) {
    forget(parts);
    promise.set_value(nullptr);
    throw;
  }
  if (made_link.keep) {
    promise.set_value(made_link.link);
    keep(parts, made_link.link);
  } else {
    forget(parts);
    promise.set_value(nullptr);
  }
  return {std::move(made_link.link), false};
}

std::optional<std::shared_future<memory_layer::value>> memory_layer::find_or_claim(
    std::string const& parts, std::promise<value>& promise)
{
  std::lock_guard const guard(mutex_);
  auto const entry = slots_.find(parts);
  if (entry == slots_.end()) {
    slots_.emplace(parts, slot{.link = promise.get_future().share()});
    return std::nullopt;
  }
  auto const& present = entry->second;
  if (present.bytes != 0) used_.splice(used_.begin(), used_, present.position);
  return present.link;
}

void memory_layer::forget(std::string const& parts)
{
  std::lock_guard const guard(mutex_);
  slots_.erase(parts);
}

void memory_layer::keep(std::string const& parts, value const& link)
{
  std::lock_guard const guard(mutex_);
  auto const entry = slots_.find(parts);
  auto& kept = entry->second;
  kept.bytes = link->bytes.size() + parts.size() + sizeof(slot);
  used_.push_front(&entry->first);
  kept.position = used_.begin();
  bytes_ += kept.bytes;
  shrink();
}

void memory_layer::shrink()
{
  while (bytes_ > limit_ && used_.size() > 1) {
    auto const oldest = slots_.find(*used_.back());
    bytes_ -= oldest->second.bytes;
    used_.pop_back();
    slots_.erase(oldest);
  }
}

}  // namespace fatlink::cache

namespace fatlink {
namespace {

using cache::folder_error;
using clock = cache::memory_layer::clock;
using cache::folder;

constexpr char const* k_folder_is_missing = "it has no folder: it keeps links in memory only";
constexpr char const* k_folder_hint =
    "correct this, or use another folder (FATLINK_CACHE_DIR<, cache_settings::folder>)";
constexpr char const* k_no_folder_hint =
    "set HOME or FATLINK_CACHE_DIR<, or cache_settings::folder>";

[[noreturn]] void fail_cache(std::filesystem::path const& folder, folder_error const& failure,
                             char const* hint)
{
  throw file_error(stage::cache,
                   {.message = detail::format("the cache {}: {}", folder.string(), failure.message),
                    .input = folder.string(),
                    .code = error_code::unusable_cache,
                    .hint = hint});
}

/// The range of a lookup. A mark at its end tells a hit, whose payload is the size of the link,
/// from a miss.
class lookup_range {
 public:
  explicit lookup_range(char const* name) noexcept : range_(name) {}

  void end(cached_link const* found) noexcept
  {
    if (!range_.is_open()) return;
    if (found == nullptr)
      detail::mark("cache miss");
    else
      detail::mark("cache hit", found->bytes.size());
    range_.end();
  }

 private:
  detail::tool_range range_;
};

/// When a wait of `limit`, which begins now, ends. A longer one counts as a year: the sum would
/// overflow.
clock::time_point end_of(std::chrono::milliseconds limit)
{
  constexpr std::chrono::milliseconds k_longest = std::chrono::hours(24 * 365);
  return clock::now() + std::clamp(limit, std::chrono::milliseconds(0), k_longest);
}

/// Calls `work`, which needs the folder. @throws file_error the folder cannot be used.
template <typename Work>
auto with_folder(cache_settings const& settings, Work const& work)
try {
  if (settings.folder.empty()) throw folder_error{k_folder_is_missing, ENOENT};
  return work();
} catch (folder_error const& failure) {
  fail_cache(settings.folder.empty() ? "folder" : settings.folder, failure,
             settings.folder.empty() ? k_no_folder_hint : k_folder_hint);
}

}  // namespace

cache_key& cache_key::add(std::string_view tag, std::string_view value)
{
  auto const size = std::to_string(value.size());
  for (auto const part : {tag, std::string_view(":"), std::string_view(size), std::string_view(":"),
                          value, std::string_view("\n")})
    parts_ += part;
  return *this;
}

std::string cache_key::name() const
{
  return cache::name_of(parts_);
}

struct link_cache::state {
  explicit state(cache_settings cache_settings)
      : settings(std::move(cache_settings)),
        memory(settings.memory_limit),
        user(settings.folder, settings.folder_limit),
        warnings(settings.warnings)
  {
  }

  cache_settings const settings;
  cache::memory_layer memory;
  cache::user_layer user;
  std::atomic<std::uint64_t> hits = 0;
  std::atomic<std::uint64_t> misses = 0;
  std::atomic<std::uint64_t> stored = 0;
  std::mutex mutex;  // guards the members below
  std::uint64_t faults = 0;
  std::string last_fault;
  std::set<int> reported_codes;       // a full disk makes many calls fail, and is reported once
  std::vector<std::string> warnings;  // not taken yet
  detail::fork_guard fork_guard{detail::fork_order::cache, mutex};

  void report_error(folder_error const& failure)
  {
    std::lock_guard const guard(mutex);
    ++faults;
    last_fault = failure.message;
    if (reported_codes.insert(failure.code).second)
      warnings.push_back(
          detail::format("cache problem (links still succeed): {}", failure.message));
  }

  /// Calls `work`; a folder_error is reported, and the result is empty then.
  template <typename Work>
  auto attempt(Work const& work) -> decltype(work())
  {
    try {
      return work();
    } catch (folder_error const& failure) {
      report_error(failure);
    } catch (std::bad_alloc const&) {
      report_error({"there is not enough memory for the entry", ENOMEM});
    }
    return decltype(work())();
  }

  std::optional<cached_link> find_in_layers(std::string const& name, std::string const& parts)
  {
    for (auto const& path : settings.layers) {
      auto link = attempt([&]() -> std::optional<cached_link> {
        auto const layer = folder::open(path, folder::kind::layer);
        return layer ? cache::read_entry(*layer, name, parts, false) : std::nullopt;
      });
      if (link) return link;
    }
    return std::nullopt;
  }

  std::optional<cached_link> find_in_folder(std::string const& name, std::string const& parts)
  {
    if (settings.folder.empty()) return std::nullopt;
    return attempt([&] { return user.find(name, parts); });
  }

  /// The stored link of the first key that the folder or a layer has.
  std::optional<cached_link> find_stored(std::initializer_list<cache_key const*> keys)
  {
    for (auto const* key : keys) {
      if (key == nullptr) continue;
      auto const name = key->name();
      if (auto link = find_in_folder(name, key->parts())) return link;
      if (auto link = find_in_layers(name, key->parts())) return link;
    }
    return std::nullopt;
  }

  struct claimed_entry {
    std::optional<cache::lock> lock = {};
    std::optional<cached_link> link = {};  ///< another process made it meanwhile
  };

  /// Waits until this process may make the entry, or another process has made it.
  claimed_entry claim(std::string const& name, std::string const& parts, clock::time_point wait_end)
  {
    constexpr auto k_longest_pause = std::chrono::milliseconds(10);
    auto const end = std::min(wait_end, end_of(settings.wait_limit));
    claimed_entry entry;
    for (std::chrono::microseconds pause(100);;
         pause = std::min<std::chrono::microseconds>(2 * pause, k_longest_pause)) {
      entry.lock = user.claim(name);
      entry.link = user.find(name, parts);
      if (entry.lock || entry.link || clock::now() >= end) return entry;
      std::this_thread::sleep_for(pause);
    }
  }

  /// Makes the link, and stores it in the folder. Holds the entry's lock meanwhile.
  cache::memory_layer::product find_or_make_stored(cache_key const& key,
                                                   std::function<product()> const& make,
                                                   cache_key const* preferred,
                                                   clock::time_point wait_end,
                                                   cache_outcome& outcome)
  {
    auto const share = [](cached_link link) {
      return std::make_shared<cached_link const>(std::move(link));
    };
    outcome = cache_outcome::hit;
    if (auto link = find_stored({preferred, &key})) return {share(std::move(*link))};
    auto const& parts = key.parts();
    auto const name = key.name();
    auto const has_folder = !settings.folder.empty();
    auto entry =
        has_folder ? attempt([&] { return claim(name, parts, wait_end); }) : claimed_entry{};
    if (entry.link) return {share(std::move(*entry.link))};
    outcome = cache_outcome::miss;
    auto product = make();
    if (product.keep && has_folder &&
        attempt([&] { return user.store(name, parts, product.link); }))
      ++stored;
    return {share(std::move(product.link)), product.keep};
  }
};

link_cache::link_cache(cache_settings settings)
    : state_(std::make_unique<state>(std::move(settings)))
{
}

link_cache::~link_cache()
{
  write_figures();
}

void link_cache::write_figures()
{
  cache::figures figures;
  figures.hits = state_->hits.exchange(0);
  figures.misses = state_->misses.exchange(0);
  figures.stored = state_->stored.exchange(0);
  {
    std::lock_guard const guard(state_->mutex);
    figures.faults = std::exchange(state_->faults, 0);
    figures.last_fault = state_->last_fault;
  }
  if (state_->settings.folder.empty() || figures.hits + figures.misses + figures.faults == 0)
    return;
  try {
    state_->user.add_figures(figures);
  } catch (...) {  // only the figures are lost
  }
}

link_cache::result link_cache::find_or_make(cache_key const& key,
                                            std::function<product()> const& make,
                                            cache_key const* preferred,
                                            std::optional<std::chrono::milliseconds> wait_limit)
{
  auto const wait_end = wait_limit ? end_of(*wait_limit) : clock::time_point::max();
  auto outcome = cache_outcome::hit;
  lookup_range lookup("cache lookup");
  auto const make_missing = [&] {
    lookup.end(nullptr);
    return make();
  };
  auto memory_result = state_->memory.find_or_make(
      key.parts(),
      [&] { return state_->find_or_make_stored(key, make_missing, preferred, wait_end, outcome); },
      wait_end);
  lookup.end(memory_result.link.get());
  if (memory_result.is_hit) outcome = cache_outcome::hit;
  ++(outcome == cache_outcome::hit ? state_->hits : state_->misses);
  return {std::move(memory_result.link), outcome};
}

std::shared_ptr<cached_link const> link_cache::find_shipped(cache_key const& key)
{
  if (state_->settings.layers.empty()) return nullptr;
  lookup_range lookup("shipped cache lookup");
  auto found = state_->memory.find_or_make(key.parts(), [&]() -> cache::memory_layer::product {
    auto link = state_->find_in_layers(key.name(), key.parts());
    if (!link) return {.link = nullptr, .keep = false};
    return {std::make_shared<cached_link const>(std::move(*link))};
  });
  lookup.end(found.link.get());
  if (found.link) ++state_->hits;
  return std::move(found.link);
}

std::shared_ptr<cached_link const> link_cache::find(cache_key const& key)
{
  lookup_range lookup("cache lookup");
  auto found = state_->memory.find_or_make(key.parts(), [&]() -> cache::memory_layer::product {
    auto link = state_->find_stored({&key});
    if (!link) return {.link = nullptr, .keep = false};
    return {std::make_shared<cached_link const>(std::move(*link))};
  });
  lookup.end(found.link.get());
  return std::move(found.link);
}

std::vector<std::string> link_cache::take_warnings()
{
  std::lock_guard const guard(state_->mutex);
  return std::exchange(state_->warnings, {});
}

cache_settings const& link_cache::settings() const noexcept
{
  return state_->settings;
}

cache_statistics link_cache::statistics()
{
  write_figures();
  cache_statistics failed;
  failed.limit = state_->settings.folder_limit;
  try {
    if (!state_->settings.folder.empty()) return state_->user.statistics();
    failed.reason = k_folder_is_missing;
  } catch (folder_error const& failure) {
    failed.reason = failure.message;
  }
  return failed;
}

cache_verification link_cache::verify()
{
  return with_folder(state_->settings, [&] { return state_->user.verify(); });
}

cache_cleaning link_cache::prune()
{
  return with_folder(state_->settings, [&] { return state_->user.prune(); });
}

cache_cleaning link_cache::clear()
{
  return with_folder(state_->settings, [&] {
    write_figures();
    return state_->user.clear();
  });
}

void write_layer_entry(std::filesystem::path const& path, cache_key const& key,
                       cached_link const& link)
try {
  folder::make(path, folder::kind::layer).write(key.name(), cache::encode_entry(key.parts(), link));
} catch (folder_error const& failure) {
  fail_cache(path, failure, "correct this, or use another folder for the layer");
}

namespace {

constexpr char const* k_no_folder =
    "cache problem (links still succeed): there is no folder: set HOME or FATLINK_CACHE_DIR";

std::filesystem::path default_folder()
{
  if (auto const named = detail::environment("FATLINK_CACHE_DIR"); !named.empty()) {
    std::error_code error;
    auto folder = std::filesystem::absolute(named, error);
    return error ? std::filesystem::path() : folder;
  }
  auto const caches = detail::xdg_folder("XDG_CACHE_HOME", ".cache");
  return caches.empty() ? caches : caches / "fatlink";
}

/// Sets the limit from $FATLINK_CACHE_LIMIT; adds a warning if that is not a limit.
void read_limit(cache_settings& settings)
{
  auto const text = detail::environment("FATLINK_CACHE_LIMIT");
  if (text.empty()) return;
  if (auto const limit = detail::read_count(text); limit && *limit > 0)
    settings.folder_limit = *limit;
  else
    settings.warnings.push_back(detail::format(
        "FATLINK_CACHE_LIMIT: '{}' is not a whole number of bytes above 0; the limit "
        "is {} bytes; write it as 512Mi, 1.5G or 1e9",
        detail::printable(text), settings.folder_limit));
}

/// The folders named `cache` in the search path.
std::vector<std::filesystem::path> installed_layers()
{
  std::vector<std::filesystem::path> layers;
  for (auto const& folder : default_search_path()) layers.push_back(folder.path / "cache");
  return layers;
}

}  // namespace

cache_settings default_cache_settings()
{
  return default_cache_settings(installed_layers());
}

cache_settings default_cache_settings(std::vector<std::filesystem::path> const& layers)
{
  cache_settings settings;
  settings.folder = default_folder();
  if (settings.folder.empty()) settings.warnings.emplace_back(k_no_folder);
  std::error_code ignored;
  if (::secure_getenv("FATLINK_SYSTEM_CACHE") != nullptr)
    settings.layers = detail::folders_in("FATLINK_SYSTEM_CACHE");
  else
    std::copy_if(layers.begin(), layers.end(), std::back_inserter(settings.layers),
                 [&](auto const& layer) { return std::filesystem::is_directory(layer, ignored); });
  read_limit(settings);
  return settings;
}

}  // namespace fatlink
