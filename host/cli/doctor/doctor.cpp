// SPDX-License-Identifier: Apache-2.0
// fatlink doctor: what this machine has of what fatlink needs, where, why that one, and what works.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "doctor/helper_check.hpp"
#include "doctor/verdicts.hpp"
#include "error_report.hpp"
#include "fatlink/device.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/nvjitlink.hpp"
#include "fatlink/reference.hpp"
#include "installed.hpp"
#include "use_options.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

/// Its message and hint, as a link would fail with them.
nlohmann::json explain_missing_nvjitlink()
try {
  (void)nvjitlink::open();
  return nlohmann::json::object();
} catch (unavailable_error const& missing) {
  return {{"message", missing.details().message}, {"hint", use_options(missing.details().hint)}};
}

nlohmann::json examine_nvjitlink()
{
  std::vector<nvjitlink_candidate> tried;
  auto const found = nvjitlink::find(tried);
  nlohmann::json json{{"found", found != nullptr}, {"tried", nlohmann::json::array()}};
  for (auto const& place : tried)
    json["tried"].push_back(
        {{"path", place.path}, {"reason", place.reason}, {"outcome", place.outcome}});
  if (!found) {
    json.update(explain_missing_nvjitlink());
    return json;
  }
  json["path"] = found->path();
  json["reason"] = found->reason();
  json["version"] = fmt::format("{}.{}", found->major(), found->minor());
  return json;
}

nlohmann::json examine_driver()
{
  std::string why;
  auto const version = driver_version(why);
  if (version == 0) return {{"found", false}, {"reason", why}};
  return {{"found", true}, {"cuda", fmt::format("{}.{}", version / 1000, version % 1000 / 10)}};
}

nlohmann::json examine_gpus()
{
  std::string why;
  auto json = nlohmann::json::array();
  for (auto const& gpu : list_gpus(why))
    json.push_back({{"device", fmt::format("gpu:{}", gpu.ordinal)},
                    {"name", gpu.name},
                    {"target", gpu.target.name()},
                    {"memory_bytes", gpu.memory_bytes},
                    {"multiprocessors", gpu.multiprocessors}});
  return json;
}

/// Whether references can be evaluated, which takes muParser.
nlohmann::json examine_expressions()
try {
  reference identity;
  identity.expression = "x";
  (void)identity.evaluator();
  return {{"found", true}};
} catch (unavailable_error const& missing) {
  return {{"found", false},
          {"reason", missing.details().message},
          {"hint", use_options(missing.details().hint)}};
}

nlohmann::json examine_cache()
{
  link_cache cache(default_cache_settings());
  auto const statistics = cache.statistics();
  nlohmann::json json{{"path", cache.settings().folder.string()},
                      {"usable", statistics.usable},
                      {"entries", statistics.entries},
                      {"limit", statistics.limit},
                      {"warnings", cache.settings().warnings}};
  if (statistics.usable) return json;
  json["reason"] = statistics.reason;
  json["hint"] =
      "links work without it; set FATLINK_CACHE_DIR to a folder of your own that nobody else can "
      "write to";
  return json;
}

nlohmann::json examine_search_path()
{
  auto json = nlohmann::json::array();
  for (auto const& folder : search_path()) {
    std::size_t count = 0;
    std::error_code ignored;
    for (auto const& file : std::filesystem::directory_iterator(folder.path, ignored))
      count += file.path().extension() == ".fatbin" ? 1 : 0;
    json.push_back({{"folder", folder.path.string()},
                    {"origin", to_string(folder.origin)},
                    {"exists", std::filesystem::is_directory(folder.path, ignored)},
                    {"fatbins", count}});
  }
  return json;
}

/// A place that was tried in vain; dlopen repeats the path in its message.
void print_place(nlohmann::json const& place)
{
  auto const path = place["path"].get<std::string>();
  auto outcome = place["outcome"].get<std::string>();
  if (outcome == "chosen") return;  // it has a line of its own
  if (outcome.starts_with(path + ": ")) outcome.erase(0, path.size() + 2);
  fmt::print("  {} ({}): {}\n", path, place["reason"].get<std::string>(), outcome);
}

void print_text(nlohmann::json const& found)
{
  fmt::print("fatlink {}\n", found["version"].get<std::string>());
  auto const& linker = found["nvjitlink"];
  if (linker["found"].get<bool>())
    fmt::print("nvJitLink {}: {} ({})\n", linker["version"].get<std::string>(),
               linker["path"].get<std::string>(), linker["reason"].get<std::string>());
  else
    fmt::print("nvJitLink: not found; install CUDA 13's, or set FATLINK_NVJITLINK\n");
  for (auto const& place : linker["tried"]) print_place(place);
  print_link_helper(found["link_helper"]);
  auto const& driver = found["driver"];
  if (driver["found"].get<bool>())
    fmt::print("Driver: CUDA {}\n", driver["cuda"].get<std::string>());
  else
    fmt::print("Driver: {}\n", driver["reason"].get<std::string>());
  for (auto const& gpu : found["gpus"])
    fmt::print("{}: {} ({}), {} MiB\n", gpu["device"].get<std::string>(),
               gpu["name"].get<std::string>(), gpu["target"].get<std::string>(),
               gpu["memory_bytes"].get<std::size_t>() >> 20);
  auto const& cache = found["cache"];
  if (auto const path = cache["path"].get<std::string>(); !path.empty())
    fmt::print("Cache: {}, {} entries\n", path, cache["entries"].get<std::size_t>());
  for (auto const& warning : cache["warnings"])
    fmt::print("  warning: {}\n", warning.get<std::string>());
  fmt::print("Fatbins by name (fatlink list):\n");
  for (auto const& folder : found["search_path"])
    fmt::print(
        "  {} ({}): {}\n", folder["folder"].get<std::string>(), folder["origin"].get<std::string>(),
        folder["exists"].get<bool>() ? fmt::format("{}", folder["fatbins"].get<std::size_t>())
                                     : "no such folder");
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_status)
{
  auto json = std::make_shared<bool>(false);
  auto* verb = app.add_subcommand(
      "doctor", "Show what works on this machine: what is found, where, why, and what to do.");
  verb->add_flag("--json", *json, "one JSON object on standard output");
  verb->footer(
      "Exits 5 where no nvJitLink or no link helper is found, or the kernel refuses the helper's "
      "sandbox. A machine without a GPU is fine: it can link.");
  verb->callback([json, &exit_status] {
    auto const nvjitlink = examine_nvjitlink();
    nlohmann::json found{{"version", FATLINK_VERSION},
                         {"nvjitlink", nvjitlink},
                         {"link_helper", examine_link_helper(nvjitlink.value("path", ""))},
                         {"driver", examine_driver()},
                         {"gpus", examine_gpus()},
                         {"expressions", examine_expressions()},
                         {"cache", examine_cache()},
                         {"search_path", examine_search_path()}};
    auto const verdicts = judge_machine(found);
    found["verdicts"] = to_json(verdicts);
    if (*json) {
      print_json("fatlink.doctor/1", found);
    } else {
      print_text(found);
      print_verdicts(verdicts);
    }
    exit_status = verdicts.front().ok ? k_done : k_unavailable;  // that of linking
  });
}

}  // namespace fatlink::cli
