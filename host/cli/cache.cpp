// SPDX-License-Identifier: Apache-2.0
// fatlink cache: shows, checks and cleans the cache of linked images; cache_warm.cpp fills it.
#include "fatlink/cache.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "cache_warm.hpp"
#include "error_report.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

/// The settings from the environment; prints their warnings. (The first link of `cache warm`
/// prints them itself.)
cache_settings read_settings()
{
  auto settings = default_cache_settings();
  print_warnings(settings.warnings);
  return settings;
}

nlohmann::json paths_to_json(std::vector<std::filesystem::path> const& paths)
{
  auto names = nlohmann::json::array();
  for (auto const& path : paths) names.push_back(path.string());
  return names;
}

/// Prints `object` with --json, else `text`; returns `status`.
int print_report(bool json, char const* schema, nlohmann::json object, std::string const& text,
                 int status = k_done)
{
  if (json)
    print_json(schema, std::move(object));
  else
    fmt::print("{}\n", text);
  return status;
}

int print_path(bool json)
{
  auto const settings = read_settings();
  if (settings.folder.empty())
    (void)link_cache(settings).verify();  // throws an error with the cause
  return print_report(
      json, "fatlink.cache-path/1",
      {{"path", settings.folder.string()}, {"layers", paths_to_json(settings.layers)}},
      settings.folder.string());
}

int print_statistics(bool json)
{
  link_cache cache(read_settings());
  auto const statistics = cache.statistics();
  auto const& folder = cache.settings().folder.string();
  auto text = fmt::format("{}: {}", folder.empty() ? "no folder" : folder,
                          statistics.usable ? "usable" : "not used: " + statistics.reason);
  text += fmt::format("\n{} entries, {} of at most {} bytes", statistics.entries, statistics.bytes,
                      statistics.limit);
  text += fmt::format("\n{} hits, {} misses, {} stored, {} evicted", statistics.hits,
                      statistics.misses, statistics.stored, statistics.evicted);
  text +=
      fmt::format("\n{} problems{}", statistics.faults,
                  statistics.last_fault.empty() ? "" : ", the latest: " + statistics.last_fault);
  for (auto const& layer : cache.settings().layers)
    text += fmt::format("\nread-only layer: {}", layer.string());
  return print_report(json, "fatlink.cache-stats/1",
                      {{"path", folder},
                       {"usable", statistics.usable},
                       {"reason", statistics.reason},
                       {"entries", statistics.entries},
                       {"bytes", statistics.bytes},
                       {"limit", statistics.limit},
                       {"hits", statistics.hits},
                       {"misses", statistics.misses},
                       {"stored", statistics.stored},
                       {"evicted", statistics.evicted},
                       {"faults", statistics.faults},
                       {"last_fault", statistics.last_fault},
                       {"layers", paths_to_json(cache.settings().layers)}},
                      text, statistics.usable ? k_done : k_bad_file);
}

int verify_entries(bool json)
{
  auto const result = link_cache(read_settings()).verify();
  auto damaged = nlohmann::json::array();
  auto text = fmt::format("{} sound, {} damaged", result.sound, result.damaged.size());
  for (auto const& entry : result.damaged) {
    damaged.push_back({{"file", entry.file.string()}, {"reason", entry.reason}});
    text += fmt::format("\n{}: {}", entry.file.string(), entry.reason);
  }
  if (!result.damaged.empty())
    text += "\nThe next link replaces a damaged entry; fatlink cache prune removes it.";
  return print_report(json, "fatlink.cache-verify/1",
                      {{"sound", result.sound}, {"damaged", damaged}}, text,
                      result.damaged.empty() ? k_done : k_bad_file);
}

int report_cleaning(bool json, char const* schema, cache_cleaning const& result)
{
  return print_report(
      json, schema,
      {{"entries", result.entries}, {"orphans", result.orphans}, {"bytes_left", result.bytes_left}},
      fmt::format("removed {} entries and {} files of processes that ended; {} bytes are left",
                  result.entries, result.orphans, result.bytes_left));
}

void add_simple(CLI::App& verb, char const* name, char const* description,
                std::function<int(bool)> const& work, int& exit_status)
{
  auto json = std::make_shared<bool>(false);
  auto* sub = verb.add_subcommand(name, description);
  sub->add_flag("--json", *json, k_json_help);
  sub->callback([json, work, &exit_status] { exit_status = work(*json); });
}

}  // namespace

void add_cache(CLI::App& app, int& exit_status)
{
  auto* verb =
      app.add_subcommand("cache", "Show, fill, check and clean the cache of linked images.");
  verb->require_subcommand(1);
  add_simple(*verb, "path", "Print the user's cache folder.", print_path, exit_status);
  add_simple(*verb, "stats", "Show entries, size, hits and misses.", print_statistics, exit_status);
  add_cache_warm(*verb, exit_status);
  add_simple(*verb, "verify", "Read every entry; exit status 3 if one is damaged.", verify_entries,
             exit_status);
  add_simple(
      *verb, "prune",
      "Remove damaged entries, files of ended processes, and entries above the limit.",
      [](bool json) {
        return report_cleaning(json, "fatlink.cache-prune/1", link_cache(read_settings()).prune());
      },
      exit_status);
  add_simple(
      *verb, "clear", "Remove every entry, and the headers that NVRTC unpacked.",
      [](bool json) {
        return report_cleaning(json, "fatlink.cache-clear/1", link_cache(read_settings()).clear());
      },
      exit_status);
  verb->footer(
      "Folder: $FATLINK_CACHE_DIR, or $XDG_CACHE_HOME/fatlink, or ~/.cache/fatlink. Read-only "
      "layers:\n"
      "$FATLINK_SYSTEM_CACHE (separated by colons; empty: none), or the folder cache in each "
      "folder\n"
      "of fatlink list. Limit: $FATLINK_CACHE_LIMIT, for example 512Mi (default 1Gi).");
}

}  // namespace fatlink::cli
