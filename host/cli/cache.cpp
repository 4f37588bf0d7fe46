// SPDX-License-Identifier: Apache-2.0
// fatlink cache: where linked images are kept, how much, whether they are sound; to fill it, and to
// clean it.
#include "fatlink/cache.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "installed.hpp"
#include "link_flags.hpp"
#include "options.hpp"
#include "targets.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

/// Warnings are printed; those of `warm` come with its first link.
cache_settings settings()
{
  auto settings = default_cache_settings();
  print_warnings(settings.warnings);
  return settings;
}

nlohmann::json names_of(std::vector<std::filesystem::path> const& paths)
{
  auto names = nlohmann::json::array();
  for (auto const& path : paths) names.push_back(path.string());
  return names;
}

/// One object with --json, else the text.
int report(bool json, char const* schema, nlohmann::json object, std::string const& text,
           int status = k_done)
{
  if (json)
    print_json(schema, std::move(object));
  else
    fmt::print("{}\n", text);
  return status;
}

int path(bool json)
{
  auto const found = settings();
  if (found.folder.empty()) (void)link_cache(found).verify();  // says what is missing
  return report(json, "fatlink.cache-path/1",
                {{"path", found.folder.string()}, {"layers", names_of(found.layers)}},
                found.folder.string());
}

int stats(bool json)
{
  link_cache cache(settings());
  auto const found = cache.statistics();
  auto const& folder = cache.settings().folder.string();
  auto text = fmt::format("{}: {}", folder.empty() ? "no folder" : folder,
                          found.usable ? "usable" : "not used: " + found.reason);
  text +=
      fmt::format("\n{} entries, {} of at most {} bytes", found.entries, found.bytes, found.limit);
  text += fmt::format("\n{} hits, {} misses, {} stored, {} evicted", found.hits, found.misses,
                      found.stored, found.evicted);
  text += fmt::format("\n{} faults{}", found.faults,
                      found.last_fault.empty() ? "" : ", the last: " + found.last_fault);
  for (auto const& layer : cache.settings().layers)
    text += fmt::format("\nread-only layer: {}", layer.string());
  return report(json, "fatlink.cache-stats/1",
                {{"path", folder},
                 {"usable", found.usable},
                 {"reason", found.reason},
                 {"entries", found.entries},
                 {"bytes", found.bytes},
                 {"limit", found.limit},
                 {"hits", found.hits},
                 {"misses", found.misses},
                 {"stored", found.stored},
                 {"evicted", found.evicted},
                 {"faults", found.faults},
                 {"last_fault", found.last_fault},
                 {"layers", names_of(cache.settings().layers)}},
                text, found.usable ? k_done : k_bad_file);
}

int verify(bool json)
{
  auto const found = link_cache(settings()).verify();
  auto damaged = nlohmann::json::array();
  auto text = fmt::format("{} sound, {} damaged", found.sound, found.damaged.size());
  for (auto const& one : found.damaged) {
    damaged.push_back({{"file", one.file.string()}, {"reason", one.reason}});
    text += fmt::format("\n{}: {}", one.file.string(), one.reason);
  }
  if (!found.damaged.empty())
    text +=
        "\nA damaged entry is linked anew when it is next needed; fatlink cache prune removes it.";
  return report(json, "fatlink.cache-verify/1", {{"sound", found.sound}, {"damaged", damaged}},
                text, found.damaged.empty() ? k_done : k_bad_file);
}

int report_cleaning(bool json, char const* schema, cache_cleaning const& done)
{
  return report(
      json, schema,
      {{"entries", done.entries}, {"orphans", done.orphans}, {"bytes_left", done.bytes_left}},
      fmt::format("removed {} entries and {} files of writers that died; {} bytes are left",
                  done.entries, done.orphans, done.bytes_left));
}

struct warming {
  std::vector<std::string> inputs;
  std::vector<std::string> targets;
  std::string mode = "both";
  std::vector<std::string> emit{"cubin"};
  std::string layer;
  link_settings link;
  bool json = false;
};

/// The links that were asked for: a PTX is made in lto mode only.
std::vector<link_options> links_of(warming const& given)
{
  std::vector<link_options> all;
  for (auto const& target : parse_targets(given.targets))
    for (auto const mode : {link_mode::ptx, link_mode::lto})
      for (auto const& emit : given.emit) {
        if (given.mode != "both" && given.mode != to_string(mode)) continue;
        if (emit == "ptx" && mode == link_mode::ptx) continue;
        all.push_back({.target = target,
                       .mode = mode,
                       .emit = emit == "ptx" ? image_kind::ptx : image_kind::cubin,
                       .require_inlined = given.link.require_inlined && mode == link_mode::lto});
      }
  if (all.empty())
    throw usage_error({.message = "--emit ptx with --mode ptx: nothing to link",
                       .input = "ptx",
                       .code = error_code::invalid_emit,
                       .hint = "PTX is emitted in lto mode; either mode emits a cubin"});
  return all;
}

/// Filling the cache is all that `warm` is for.
void must_be_kept(std::vector<fatbin> const& inputs, link_options const& options)
{
  link_cache cache(default_cache_settings());
  auto const file = nvjitlink::locate();
  if (cache.has(link_key(inputs, options, file ? file->identity : ""))) return;
  auto const folder = cache.settings().folder.string();
  throw file_error(stage::cache,
                   {.message = fmt::format("the cache {} did not keep the {} link for {}", folder,
                                           to_string(options.mode), options.target.name()),
                    .input = folder,
                    .code = error_code::link_not_cached,
                    .hint = "fatlink cache stats says why; or FATLINK_CACHE_LIMIT is too small"});
}

int warm(warming const& given)
{
  auto const inputs = read_fatbins(given.inputs);
  if (given.link.no_cache && given.layer.empty())
    throw usage_error({.message = "--no-cache without --layer: nothing to fill",
                       .input = "--no-cache",
                       .code = error_code::invalid_argument,
                       .hint = "leave it out, or name a folder with --layer"});
  auto linker = given.link.linker();
  auto done = nlohmann::json::array();
  for (auto const& options : links_of(given)) {
    auto const image = given.layer.empty() ? linker.link(inputs, options)
                                           : linker.link_into(given.layer, inputs, options);
    print_warnings(image.warnings);
    if (given.layer.empty()) must_be_kept(inputs, options);
    done.push_back({{"target", image.target.name()},
                    {"mode", to_string(image.mode)},
                    {"kind", to_string(image.kind)},
                    {"bytes", image.bytes.size()},
                    {"cache", to_string(image.cache)},
                    {"link_ms", image.link_ms}});
    if (!given.json)
      fmt::print("{:<8} {}  {:<5} {:>8} bytes  {}\n", image.target.name(), to_string(image.mode),
                 to_string(image.kind), image.bytes.size(), to_string(image.cache));
  }
  if (given.json) print_json("fatlink.cache-warm/1", {{"links", done}});
  return k_done;
}

void add_simple(CLI::App& verb, char const* name, char const* does,
                std::function<int(bool)> const& work, int& exit_status)
{
  auto json = std::make_shared<bool>(false);
  auto* sub = verb.add_subcommand(name, does);
  sub->add_flag("--json", *json, "one JSON object on standard output");
  sub->callback([json, work, &exit_status] { exit_status = work(*json); });
}

void add_warm(CLI::App& verb, int& exit_status)
{
  auto given = std::make_shared<warming>();
  auto* sub = verb.add_subcommand("warm", "Link now what will be needed. Needs no GPU.");
  sub->add_option("FATBIN", given->inputs,
                  "the library's fatbin, then the transforms'; names or files")
      ->required();
  add_targets(*sub, given->targets,
              "GPU architectures, as sm_80,sm_90; native: this machine's; all: every one")
      ->required();
  add_choice(*sub, "--mode", given->mode, {"ptx", "lto", "both"}, "ptx, lto or both");
  add_choices(*sub, "--emit", given->emit, {"cubin", "ptx"},
              "cubin, or ptx for the reference device (lto mode), or both: cubin,ptx");
  sub->add_option("--layer", given->layer,
                  "fill this folder, to be shipped as a read-only layer: it serves hosts with the "
                  "same nvJitLink, and hosts with none");
  add_link_settings(*sub, given->link);
  sub->add_flag("--json", given->json, "one JSON object on standard output");
  sub->footer(
      "Example: fatlink cache warm --target sm_80,sm_90 --emit cubin,ptx --layer "
      "share/fatlink/cache "
      "apply_transform.fatbin relu_poly.fatbin");
  sub->callback([given, &exit_status] { exit_status = warm(*given); });
}

}  // namespace

void add_cache(CLI::App& app, int& exit_status)
{
  auto* verb = app.add_subcommand("cache", "Show, fill, check and clean the cache of links.");
  verb->require_subcommand(1);
  add_simple(*verb, "path", "Print the user's folder.", path, exit_status);
  add_simple(*verb, "stats", "Show how much is kept, and how often it served.", stats, exit_status);
  add_warm(*verb, exit_status);
  add_simple(*verb, "verify", "Read every entry; exits 3 where one is damaged.", verify,
             exit_status);
  add_simple(
      *verb, "prune", "Remove damaged entries, what dead processes left, and what is too much.",
      [](bool json) {
        return report_cleaning(json, "fatlink.cache-prune/1", link_cache(settings()).prune());
      },
      exit_status);
  add_simple(
      *verb, "clear", "Remove every entry.",
      [](bool json) {
        return report_cleaning(json, "fatlink.cache-clear/1", link_cache(settings()).clear());
      },
      exit_status);
  verb->footer(
      "Folder: $FATLINK_CACHE_DIR, else $XDG_CACHE_HOME/fatlink, else ~/.cache/fatlink. Read-only\n"
      "layers after it: $FATLINK_SYSTEM_CACHE (several, with colons; empty: none), else `cache` "
      "in\n"
      "each folder that fatlink list searches. Limit: $FATLINK_CACHE_LIMIT, for example 512Mi "
      "(default 1Gi).");
}

}  // namespace fatlink::cli
