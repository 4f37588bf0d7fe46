// SPDX-License-Identifier: Apache-2.0
// fatlink doctor: shows the software and devices of this machine that fatlink uses, and what works.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "doctor/candidates.hpp"
#include "doctor/compiler_check.hpp"
#include "doctor/helper_check.hpp"
#include "doctor/verdicts.hpp"
#include "error_report.hpp"
#include "fatlink/device.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/nvjitlink.hpp"
#include "fatlink/reference.hpp"
#include "installed.hpp"
#include "util/files/path_lookup.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

nlohmann::json examine_nvjitlink()
{
  auto json = examine_library<nvjitlink>();
  if (!json["found"].get<bool>()) return json;
  auto const library = nvjitlink::open();
  json["version"] = fmt::format("{}.{}", library->major(), library->minor());
  return json;
}

nlohmann::json examine_driver()
{
  std::string reason;
  auto const version = driver_version(reason);
  if (version == 0) return {{"found", false}, {"reason", reason}};
  return {{"found", true}, {"cuda", fmt::format("{}.{}", version / 1000, version % 1000 / 10)}};
}

nlohmann::json examine_gpus()
{
  std::string reason;
  auto json = nlohmann::json::array();
  for (auto const& gpu : list_gpus(reason))
    json.push_back({{"device", fmt::format("gpu:{}", gpu.ordinal)},
                    {"name", gpu.name},
                    {"target", gpu.target.name()},
                    {"memory_bytes", gpu.memory_bytes},
                    {"multiprocessors", gpu.multiprocessors}});
  return json;
}

/// Whether references can be evaluated, which requires muParser.
nlohmann::json examine_expressions()
try {
  reference identity;
  identity.expression = "x";
  (void)identity.evaluator();
  return {{"found", true}};
} catch (unavailable_error const& missing) {
  return {
      {"found", false}, {"reason", missing.details().message}, {"hint", missing.details().hint}};
}

nlohmann::json examine_cache()
{
  link_cache cache(default_cache_settings());
  auto const statistics = cache.statistics();
  nlohmann::json json{{"path", cache.settings().folder.string()},
                      {"usable", statistics.usable},
                      {"entries", statistics.entries},
                      {"limit", statistics.limit},
                      {"layers", nlohmann::json::array()},
                      {"warnings", cache.settings().warnings}};
  for (auto const& layer : cache.settings().layers)
    json["layers"].push_back(
        {{"folder", layer.string()}, {"entries", detail::list_folder(layer).size()}});
  if (statistics.usable) return json;
  json["reason"] = statistics.reason;
  json["hint"] =
      "links work without it; set FATLINK_CACHE_DIR to your own folder, which nobody else can "
      "write to";
  return json;
}

nlohmann::json examine_search_path()
{
  auto json = nlohmann::json::array();
  for (auto const& folder : search_path()) {
    std::size_t count = 0;
    std::error_code ignored;
    for (auto const& file : detail::list_folder(folder.path))
      count += file.extension() == ".fatbin" ? 1 : 0;
    json.push_back({{"folder", folder.path.string()},
                    {"origin", to_string(folder.origin)},
                    {"exists", std::filesystem::is_directory(folder.path, ignored)},
                    {"fatbins", count}});
  }
  return json;
}

void print_doctor(nlohmann::json const& report)
{
  fmt::print("fatlink {}\n", report["version"].get<std::string>());
  auto const& linker = report["nvjitlink"];
  if (linker["found"].get<bool>())
    fmt::print("nvJitLink {}: {} ({})\n", linker["version"].get<std::string>(),
               linker["path"].get<std::string>(), linker["reason"].get<std::string>());
  else
    fmt::print("nvJitLink: not found; install nvJitLink of CUDA 13, or set FATLINK_NVJITLINK\n");
  print_candidates(linker);
  print_link_helper(report["link_helper"]);
  print_compilers(report["nvrtc"], report["libnvvm"]);
  auto const& driver = report["driver"];
  if (driver["found"].get<bool>())
    fmt::print("Driver: CUDA {}\n", driver["cuda"].get<std::string>());
  else
    fmt::print("Driver: {}\n", driver["reason"].get<std::string>());
  for (auto const& gpu : report["gpus"])
    fmt::print("{}: {} ({}), {} MiB\n", gpu["device"].get<std::string>(),
               gpu["name"].get<std::string>(), gpu["target"].get<std::string>(),
               gpu["memory_bytes"].get<std::size_t>() >> 20);
  auto const& cache = report["cache"];
  if (auto const path = cache["path"].get<std::string>(); !path.empty())
    fmt::print("Cache: {}, {} entries\n", path, cache["entries"].get<std::size_t>());
  for (auto const& layer : cache["layers"])
    fmt::print("  shipped: {}, {} entries\n", layer["folder"].get<std::string>(),
               layer["entries"].get<std::size_t>());
  for (auto const& warning : cache["warnings"])
    fmt::print("  warning: {}\n", warning.get<std::string>());
  fmt::print("Fatbins by name (fatlink list):\n");
  for (auto const& folder : report["search_path"])
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
      "doctor", "Show what works on this machine, what was found, and what to do.");
  verb->add_flag("--json", *json, k_json_help);
  verb->footer(
      "Exit status 5: nvJitLink or the helper is missing, or the kernel refuses the helper's "
      "sandbox.\nA GPU is not required, nor are NVRTC and libNVVM, which only fatlink compile "
      "needs.");
  verb->callback([json, &exit_status] {
    auto const nvjitlink = examine_nvjitlink();
    nlohmann::json report{{"version", FATLINK_VERSION},
                          {"nvjitlink", nvjitlink},
                          {"link_helper", examine_link_helper(nvjitlink.value("path", ""))},
                          {"nvrtc", examine_nvrtc()},
                          {"libnvvm", examine_libnvvm()},
                          {"driver", examine_driver()},
                          {"gpus", examine_gpus()},
                          {"expressions", examine_expressions()},
                          {"cache", examine_cache()},
                          {"search_path", examine_search_path()}};
    auto const verdicts = check_machine(report);
    report["verdicts"] = to_json(verdicts);
    if (*json) {
      print_json("fatlink.doctor/1", report);
    } else {
      print_doctor(report);
      print_verdicts(verdicts);
    }
    exit_status = verdicts.front().ok ? k_done : k_unavailable;  // that of linking
  });
}

}  // namespace fatlink::cli
