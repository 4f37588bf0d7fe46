// SPDX-License-Identifier: Apache-2.0
#include "fatlink/cache.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "cache/memory_layer.hpp"
#include "cache/user_layer.hpp"
#include "fatlink/error.hpp"
#include "util/bytes/sha256.hpp"
#include "util/process/fork_guard.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

using cache::fault;
using cache::folder;

constexpr char const* k_no_folder = "there is no folder for it: set HOME, or FATLINK_CACHE_DIR";

[[noreturn]] void fail(std::filesystem::path const& folder, fault const& why,
                       char const* hint = "fix that, or name another folder in FATLINK_CACHE_DIR")
{
  throw file_error(stage::linker,
                   {.message = detail::format("the cache {}: {}", folder.string(), why.message),
                    .input = folder.string(),
                    .code = {},
                    .log = {},
                    .hint = hint});
}

void require_folder(cache_settings const& settings)
{
  if (settings.folder.empty()) throw fault{k_no_folder, ENOENT};
}

}  // namespace

char const* to_string(cache_outcome outcome) noexcept
{
  switch (outcome) {
    case cache_outcome::off:
      return "off";
    case cache_outcome::miss:
      return "miss";
    case cache_outcome::hit:
      return "hit";
  }
  return "unknown";
}

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
  explicit state(cache_settings given)
      : settings(std::move(given)),
        memory(settings.memory_limit),
        user(settings.folder, settings.folder_limit)
  {
    unsaid = settings.warnings;
    if (settings.folder.empty()) say({k_no_folder, ENOENT});
  }

  cache_settings const settings;
  cache::memory_layer memory;
  cache::user_layer user;
  std::atomic<std::uint64_t> hits = 0;
  std::atomic<std::uint64_t> misses = 0;
  std::atomic<std::uint64_t> stored = 0;
  std::mutex mutex;  // of the rest
  std::uint64_t faults = 0;
  std::string last_fault;
  std::set<int> said;  // by errno: a full disk fails many calls, and is one fault
  std::vector<std::string> unsaid;
  detail::fork_guard fork_guard{detail::fork_order::cache, mutex};

  void say(fault const& why)
  {
    std::lock_guard const held(mutex);
    ++faults;
    last_fault = why.message;
    if (said.insert(why.code).second)
      unsaid.push_back(detail::format("the cache is not used as it should be: {}", why.message));
  }

  /// What `work` answers; where it has a fault, that is said, and it answers nothing.
  template <typename Work>
  auto attempt(Work const& work) -> decltype(work())
  {
    try {
      return work();
    } catch (fault const& why) {
      say(why);
    } catch (std::bad_alloc const&) {
      say({"there is not enough memory for it", ENOMEM});
    }
    return decltype(work())();
  }

  std::optional<cached_link> find_in_layers(std::string const& name, std::string const& parts)
  {
    for (auto const& path : settings.layers) {
      auto found = attempt([&]() -> std::optional<cached_link> {
        auto const layer = folder::open(path, folder::kind::layer);
        return layer ? cache::read_entry(*layer, name, parts, false) : std::nullopt;
      });
      if (found) return found;
    }
    return std::nullopt;
  }

  std::optional<cached_link> find(std::string const& name, std::string const& parts)
  {
    if (settings.folder.empty()) return std::nullopt;
    return attempt([&] { return user.find(name, parts); });
  }

  struct claimed {
    std::optional<cache::lock> lock;
    std::optional<cached_link> link;  ///< another process made it meanwhile
  };

  /// Waits until the entry can be made here, or another process has made it.
  claimed claim(std::string const& name, std::string const& parts)
  {
    constexpr auto k_longest_pause = std::chrono::milliseconds(10);
    auto const until = std::chrono::steady_clock::now() + settings.patience;
    claimed got;
    for (std::chrono::microseconds pause(100);;
         pause = std::min<std::chrono::microseconds>(2 * pause, k_longest_pause)) {
      got.lock = user.claim(name);
      got.link = user.find(name, parts);
      if (got.lock || got.link || std::chrono::steady_clock::now() >= until) return got;
      std::this_thread::sleep_for(pause);
    }
  }

  /// What the folder or a layer has.
  std::optional<cached_link> find_stored(cache_key const& key)
  {
    auto const name = key.name();
    auto link = find(name, key.parts());
    return link ? std::move(link) : find_in_layers(name, key.parts());
  }

  cache::memory_layer::made find_below(cache_key const& key, std::function<made()> const& make,
                                       cache_key const* preferred, cache_outcome& outcome)
  {
    auto const& parts = key.parts();
    auto const name = key.name();
    auto const share = [&](cached_link link) {
      return std::make_shared<cached_link const>(std::move(link));
    };
    outcome = cache_outcome::hit;
    for (auto const* candidate : {preferred, &key})
      if (candidate != nullptr)
        if (auto link = find_stored(*candidate)) return {share(std::move(*link))};
    claimed got;
    if (!settings.folder.empty()) got = attempt([&] { return claim(name, parts); });
    if (got.link) return {share(std::move(*got.link))};
    outcome = cache_outcome::miss;
    auto fresh = make();
    if (fresh.keep && !settings.folder.empty() &&
        attempt([&] { return user.store(name, parts, fresh.link); }))
      ++stored;
    return {share(std::move(fresh.link)), fresh.keep};
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
  cache::figures more;
  more.hits = state_->hits.exchange(0);
  more.misses = state_->misses.exchange(0);
  more.stored = state_->stored.exchange(0);
  {
    std::lock_guard const held(state_->mutex);
    more.faults = std::exchange(state_->faults, 0);
    more.last_fault = state_->last_fault;
  }
  if (state_->settings.folder.empty() || more.hits + more.misses + more.faults == 0) return;
  try {
    state_->user.add_figures(more);
  } catch (...) {  // the figures are lost, nothing else
  }
}

link_cache::answer link_cache::find_or_make(cache_key const& key, std::function<made()> const& make,
                                            cache_key const* preferred)
{
  auto outcome = cache_outcome::hit;
  bool was_there = false;
  auto link = state_->memory.find_or_make(
      key.parts(), [&] { return state_->find_below(key, make, preferred, outcome); }, was_there);
  if (was_there) outcome = cache_outcome::hit;
  ++(outcome == cache_outcome::hit ? state_->hits : state_->misses);
  return {std::move(link), outcome};
}

bool link_cache::has(cache_key const& key)
{
  return state_->find_stored(key).has_value();
}

std::vector<std::string> link_cache::take_warnings()
{
  std::lock_guard const held(state_->mutex);
  return std::exchange(state_->unsaid, {});
}

cache_settings const& link_cache::settings() const noexcept
{
  return state_->settings;
}

cache_statistics link_cache::statistics()
{
  write_figures();
  cache_statistics found;
  found.limit = state_->settings.folder_limit;
  if (state_->settings.folder.empty()) {
    std::lock_guard const held(state_->mutex);
    found.why_not = state_->last_fault;
    return found;
  }
  try {
    found = state_->user.statistics();
  } catch (fault const& why) {
    found.why_not = why.message;
  }
  return found;
}

cache_verification link_cache::verify()
try {
  require_folder(state_->settings);
  return state_->user.verify();
} catch (fault const& why) {
  fail(state_->settings.folder, why);
}

cache_cleaning link_cache::prune()
try {
  require_folder(state_->settings);
  return state_->user.prune();
} catch (fault const& why) {
  fail(state_->settings.folder, why);
}

cache_cleaning link_cache::clear()
try {
  require_folder(state_->settings);
  write_figures();
  return state_->user.clear();
} catch (fault const& why) {
  fail(state_->settings.folder, why);
}

void write_layer_entry(std::filesystem::path const& path, cache_key const& key,
                       cached_link const& link)
try {
  folder::make(path, folder::kind::layer).write(key.name(), cache::encode_entry(key.parts(), link));
} catch (fault const& why) {
  fail(path, why, "fix that, or name another folder for the layer");
}

}  // namespace fatlink
