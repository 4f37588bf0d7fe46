// SPDX-License-Identifier: Apache-2.0
// fatlink cache: shows, fills, checks and cleans the cache of linked images.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "error_report.hpp"
#include "fatlink/cache.hpp"
#include "fatlink/linker.hpp"
#include "installed.hpp"
#include "link_flags.hpp"
#include "options.hpp"
#include "plan/warm_cache.hpp"
#include "source_inputs.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct warm_arguments {
  std::vector<std::string> inputs;
  std::vector<std::string> targets;
  std::string mode = "both";
  std::vector<std::string> emit{"cubin"};
  std::string layer;
  bool one_copy = false;
  link_flags link;
  bool json = false;
};

bool emits(warm_arguments const& arguments, std::string const& kind)
{
  return std::ranges::find(arguments.emit, kind) != arguments.emit.end();
}

[[noreturn]] void refuse_emit(std::string const& mode, char const* cause, char const* hint)
{
  fail_usage(fmt::format("--emit ptx with --mode {}: {}", mode, cause), "ptx", hint,
             error_code::invalid_emit);
}

/// @throws usage_error no link would have one of `modes`, or emit one of the kinds asked for.
void check_emit(warm_arguments const& arguments, std::vector<link_mode> const& modes)
{
  auto const has_lto = std::ranges::find(modes, link_mode::lto) != modes.end();
  if (!has_lto && emits(arguments, "ptx"))
    refuse_emit(arguments.mode, "only lto mode emits PTX", "use --mode lto, or --emit cubin");
  if (modes.size() > 1 && !emits(arguments, "cubin"))
    refuse_emit(arguments.mode, "only lto mode emits PTX; nothing to link in ptx mode",
                "use --mode lto, or --emit cubin,ptx");
}

/// The requested links; PTX is emitted in lto mode only.
std::vector<link_options> make_link_options(warm_arguments const& arguments)
{
  std::vector<link_options> requests;
  auto const modes = parse_modes(arguments.mode);
  check_emit(arguments, modes);
  for (auto const& target : parse_targets(arguments.targets))
    for (auto const mode : modes)
      for (auto const& emit : arguments.emit) {
        if (emit == "ptx" && mode != link_mode::lto) continue;
        requests.push_back(
            arguments.link.for_mode(mode, modes)
                .make_options(target, mode, emit == "ptx" ? image_kind::ptx : image_kind::cubin));
      }
  return requests;
}

int warm(warm_arguments const& arguments)
{
  auto requests = make_link_options(arguments);
  auto source_flags = arguments.link.source_flags();
  source_flags.layer = arguments.layer;
  auto const inputs = read_inputs(arguments.inputs, source_flags);
  for (auto& options : requests) options = detail::keep_plan_kernels(inputs, std::move(options));
  if (arguments.link.no_cache && arguments.layer.empty())
    fail_usage("--no-cache without --layer: nothing to fill", "--no-cache",
               "remove --no-cache, or name a folder with --layer");
  if (arguments.one_copy && arguments.layer.empty())
    fail_usage("--one-copy without --layer: there is no layer", "--one-copy",
               "remove --one-copy, or name a folder with --layer");
  auto const hosts = arguments.one_copy ? layer_hosts::unnamed : layer_hosts::all;
  auto linker = arguments.link.linker();
  auto rows = nlohmann::json::array();
  for (auto const& options : requests) {
    auto const image = arguments.layer.empty()
                           ? linker.link(inputs, options)
                           : linker.link_into(arguments.layer, inputs, options, hosts);
    print_warnings(image.warnings);
    if (arguments.layer.empty()) detail::check_stored(linker, inputs, options);
    rows.push_back({{"target", image.target.name()},
                    {"mode", to_string(image.mode)},
                    {"kind", to_string(image.kind)},
                    {"bytes", image.bytes.size()},
                    {"cache", to_string(image.cache)},
                    {"link_ms", image.link_ms}});
    auto const& row = rows.back();
    if (!arguments.json)
      fmt::print("{:<8} {}  {:<5} {:>8} bytes  {}\n", row["target"], row["mode"], row["kind"],
                 row["bytes"], row["cache"]);
  }
  if (arguments.json) print_json("fatlink.cache-warm/1", {{"links", rows}});
  return k_done;
}

/// Adds the subcommand to `verb`; its callback sets the exit status.
void add_cache_warm(CLI::App& verb, int& exit_status)
{
  auto arguments = std::make_shared<warm_arguments>();
  auto* sub =
      verb.add_subcommand("warm", "Link in advance and store the images. A GPU is not required.");
  sub->add_option("INPUT", arguments->inputs, k_inputs_help)->required();
  add_targets(*sub, arguments->targets, "GPU architectures, separated by commas")->required();
  add_mode(*sub, arguments->mode);
  add_kernels(*sub, arguments->link.options.kernels,
              "keep only this kernel (default: kernels of the launch plan, else all); an input "
              "must define it");
  add_choices(*sub, "--emit", arguments->emit, {"cubin", "ptx"},
              "image kinds: cubin, ptx or cubin,ptx; the reference device requires ptx, which only "
              "lto mode emits; with only ptx, the default mode is lto");
  sub->add_option("--layer", arguments->layer,
                  "folder to fill, for shipping as a read-only layer; linked images and compiled "
                  "sources are stored in it")
      ->type_name("FOLDER");
  sub->add_flag("--one-copy", arguments->one_copy,
                "with --layer: halve the size of the layer; machines that set $FATLINK_NVJITLINK "
                "do not use it");
  add_link_flags(*sub, arguments->link);
  sub->add_flag("--json", arguments->json, k_json_help);
  sub->footer(
      "Example: fatlink cache warm --target sm_80,sm_90 --emit cubin,ptx --layer "
      "share/fatlink/cache "
      "apply_transform.fatbin relu_poly.fatbin");
  sub->callback([arguments, sub, &exit_status] {
    if (sub->count("--mode") == 0 && !emits(*arguments, "cubin")) arguments->mode = "lto";
    arguments->link.note_inputs(arguments->inputs);
    exit_status = warm(*arguments);
  });
}

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
      "that fatlink list searches. Size limit: $FATLINK_CACHE_LIMIT, for example 512Mi (default "
      "1Gi).");
}

}  // namespace fatlink::cli
