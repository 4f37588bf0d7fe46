// SPDX-License-Identifier: Apache-2.0
#include "c_interface/guard.hpp"
#include "c_interface/handles.hpp"
#include "c_interface/structs.hpp"

namespace fatlink::c {
namespace {

cache_settings settings_of(fatlink_cache_settings const& stated)
{
  auto settings = default_cache_settings();
  if (stated.folder != nullptr) {
    settings.folder = stated.folder;
    if (settings.folder.empty()) settings.layers.clear();  // memory only
  }
  if (stated.folder_limit != 0) settings.folder_limit = stated.folder_limit;
  if (stated.memory_limit != 0) settings.memory_limit = stated.memory_limit;
  return settings;
}

}  // namespace
}  // namespace fatlink::c

using namespace fatlink::c;

fatlink_error* fatlink_cache_open(fatlink_cache_settings const* settings, fatlink_cache** cache)
{
  return guarded([&] {
    auto& result = output(cache, "cache");
    auto const stated = optional_struct(settings, "settings");
    result = new fatlink_cache{std::make_shared<fatlink::link_cache>(settings_of(stated))};
  });
}

char const* fatlink_cache_folder(fatlink_cache const* cache)
{
  return cache == nullptr ? "" : cache->cache->settings().folder.c_str();
}

fatlink_error* fatlink_cache_get_statistics(fatlink_cache* cache,
                                            fatlink_cache_statistics* statistics)
{
  return guarded([&] {
    struct_output const result(statistics, "statistics");
    auto const facts = required(cache, "cache").cache->statistics();
    result.set({.size = sizeof(fatlink_cache_statistics),
                .usable = facts.usable ? 1 : 0,
                .entries = facts.entries,
                .bytes = facts.bytes,
                .limit = facts.limit,
                .hits = facts.hits,
                .misses = facts.misses,
                .stored = facts.stored,
                .evicted = facts.evicted,
                .faults = facts.faults});
  });
}

fatlink_error* fatlink_cache_prune(fatlink_cache* cache)
{
  return guarded([&] { (void)required(cache, "cache").cache->prune(); });
}

fatlink_error* fatlink_cache_clear(fatlink_cache* cache)
{
  return guarded([&] { (void)required(cache, "cache").cache->clear(); });
}

void fatlink_cache_free(fatlink_cache* cache)
{
  delete cache;
}
