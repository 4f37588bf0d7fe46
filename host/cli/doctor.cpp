// SPDX-License-Identifier: Apache-2.0
// fatlink doctor: shows the software and devices of this machine that fatlink uses, what works, and
// what to do if something does not.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/offline.hpp"
#include "error_report.hpp"
#include "fatlink/compiler.hpp"
#include "fatlink/device.hpp"
#include "fatlink/error.hpp"
#include "fatlink/library_file.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/nvjitlink.hpp"
#include "installed.hpp"
#include "link_helper/link_helper.hpp"
#include "preflight/rules.hpp"
#include "toolkit/nvrtc.hpp"
#include "toolkit/nvvm.hpp"
#include "toolkit/toolkit_library.hpp"
#include "util/files/read_file.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

/// What a part of the report states; empty where it does not.
std::string text_of(nlohmann::json const& part, char const* key)
{
  return part.value(key, std::string{});
}

/// Whether `key`, of the report's parts "found", is true.
bool is(nlohmann::json const& part, char const* key)
{
  return part.at(key).get<bool>();
}

/// "message" and "hint" of `failure`.
void add_failure(nlohmann::json& json, error const& failure)
{
  json["message"] = failure.details().message;
  json["hint"] = failure.details().hint;
}

/// [{"path", "reason", "outcome"}]
nlohmann::json report_json(std::vector<library_candidate> const& candidates)
{
  auto json = nlohmann::json::array();
  for (auto const& candidate : candidates)
    json.push_back(
        {{"path", candidate.path}, {"reason", candidate.reason}, {"outcome", candidate.outcome}});
  return json;
}

/// {"found", "tried"}, with "path" and "reason" of the file that Library::find opens, or "message"
/// and "hint" of the error that using it gives.
template <typename Library>
nlohmann::json examine_library()
{
  std::vector<library_candidate> candidates;
  auto const library = Library::find(candidates);
  nlohmann::json json{{"found", library != nullptr}, {"tried", report_json(candidates)}};
  if (library) {
    json["path"] = library->path();
    json["reason"] = library->reason();
    return json;
  }
  try {
    (void)Library::open();
  } catch (unavailable_error const& missing) {
    add_failure(json, missing);
  }
  return json;
}

/// A line for each file of "tried" that is not used, without the path that dlopen repeats in its
/// message. Not `verbose`: only files that exist, where none could be used.
void print_candidates(nlohmann::json const& library, bool verbose)
{
  for (auto const& candidate : library["tried"]) {
    auto const path = text_of(candidate, "path");
    auto outcome = text_of(candidate, "outcome");
    if (outcome == "chosen") continue;  // printed on another line
    std::error_code ignored;
    if (!verbose && (is(library, "found") || !std::filesystem::exists(path, ignored))) continue;
    if (outcome.starts_with(path + ": ")) outcome.erase(0, path.size() + 2);
    fmt::print("  {} ({}): {}\n", path, candidate["reason"], outcome);
  }
}

constexpr std::chrono::seconds k_longest_start{30};
constexpr std::string_view k_on = "on";
constexpr char const* k_seccomp_remedy =
    "allow seccomp (in a container: in its profile), or pass --allow-unconfined to link without "
    "the sandbox";

/// The parts of "seccomp: off: Invalid argument".
nlohmann::json parse_layer(std::string_view text)
{
  auto const take = [&] {
    auto const word = text.substr(0, text.find(": "));
    text.remove_prefix(std::min(text.size(), word.size() + 2));
    return std::string(word);
  };
  auto const name = take();
  auto const state = take();
  return {{"name", name}, {"on", state == k_on}, {"detail", std::string(text)}};
}

/// Adds the state of each layer, and a reason and a hint if links would fail.
void examine_layers(nlohmann::json& json, std::string const& library)
try {
  auto const helper = detail::link_helper::start({.file = library, .allow_unconfined = true},
                                                 detail::time_limit(k_longest_start));
  for (auto const& layer : helper->hello().layers) json["layers"].push_back(parse_layer(layer));
  for (auto const& layer : json["layers"]) {
    if (layer["name"] != "seccomp" || is(layer, "on")) continue;
    json["reason"] = "the kernel refuses its sandbox: seccomp: " + text_of(layer, "detail");
    json["hint"] = k_seccomp_remedy;
  }
} catch (unavailable_error const& failure) {
  json["reason"] = failure.details().message;
  json["hint"] = failure.details().hint;
}

void print_layer(nlohmann::json const& layer)
{
  auto const detail = text_of(layer, "detail");
  fmt::print("  {}: {}{}{}\n", layer["name"], is(layer, "on") ? "on" : "off",
             detail.empty() ? "" : ": ", detail);
}

/// What offline mode does not search.
nlohmann::json not_searched(char const* cause_key)
{
  return {{"found", false},
          {cause_key, "offline mode is on: it is not searched"},
          {"hint", "unset FATLINK_OFFLINE to search for it"}};
}

/// {"found", "path", "layers": [{"name", "on", "detail"}]}, or {"found", "reason", "hint"}. Starts
/// the helper with the nvJitLink at `library`, even if the kernel refuses its sandbox; if it does
/// not start, "reason" and "hint" are set. Without `library` nothing is started.
nlohmann::json examine_link_helper(std::string const& library)
try {
  nlohmann::json json{
      {"found", true}, {"path", find_link_helper().string()}, {"layers", nlohmann::json::array()}};
  if (!library.empty()) examine_layers(json, library);
  return json;
} catch (unavailable_error const& missing) {
  return {
      {"found", false}, {"reason", missing.details().message}, {"hint", missing.details().hint}};
}

/// Whether links can run in it: it starts, and the kernel confines it.
bool is_helper_usable(nlohmann::json const& helper)
{
  return is(helper, "found") && !helper.contains("reason");
}

/// Prints a line for the helper, and one for each layer of its sandbox that is off; with `verbose`
/// for every layer.
void print_link_helper(nlohmann::json const& helper, bool verbose)
{
  if (!is(helper, "found"))
    return fmt::print("Link helper: not found; {}; {}\n", helper["reason"], helper["hint"]);
  fmt::print("Link helper: {}\n", helper["path"]);
  for (auto const& layer : helper["layers"])
    if (verbose || !is(layer, "on")) print_layer(layer);
}

/// With a header: an NVRTC that opened files otherwise than by the calls that the helper answers
/// (linkd/file_calls.hpp) would not find it.
constexpr char const* k_cuda = "#include <cstdint>\n__device__ std::int32_t number;\n";
constexpr char const* k_ir =
    "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-"
    "f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
    "target triple = \"nvptx64-nvidia-cuda\"\n"
    "define void @empty() {\n  ret void\n}\n"
    "!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0}\n";

/// Sets "version", or "message" and "hint". `used`: the file that compiles open, which is not the
/// first one that loads: they choose it without loading it. Stated if it fails.
void try_compile(nlohmann::json& json, std::string const& text, std::string const& name,
                 std::optional<library_file> const& used)
try {
  if (!is(json, "found")) return;
  compiler tool({.allow_unconfined = true});
  auto const compiled = tool.compile(source::from_text(text, name), {.architectures = {"sm_75"}});
  json["version"] = compiled.producer.substr(compiled.producer.find(' ') + 1);
} catch (error const& failure) {
  add_failure(json, failure);
  if (!used) return;
  json["path"] = used->path;
  json["reason"] = used->reason;
}

std::vector<std::string> header_folders()
{
  std::vector<std::string> names;
  compiler const tool({.cache = std::make_shared<link_cache>(default_cache_settings())});
  for (auto const& folder : tool.header_folders()) names.push_back(folder.string());
  return names;
}

void print_first_line(char const* title, char const* language, nlohmann::json const& compiler)
{
  if (!is(compiler, "found"))
    fmt::print("{}: not found; needed only to compile {}: {}\n", title, language,
               compiler.value("hint", ""));
  else
    fmt::print("{} {}: {} ({})\n", title, compiler.value("version", "does not work"),
               compiler["path"], compiler["reason"]);
}

void print_headers(nlohmann::json const& nvrtc, bool verbose)
{
  auto const folders = nvrtc["headers"].get<std::vector<std::string>>();
  if (!is(nvrtc, "found") || (!verbose && !folders.empty())) return;
  fmt::print("  headers: {}\n",
             folders.empty()
                 ? "none yet; NVRTC 13.3 and newer unpacks its own headers when a source includes "
                   "one; for older versions install nvidia-cuda-runtime or a toolkit"
                 : fmt::format("{}", fmt::join(folders, ", ")));
}

/// `absent`: what to print if it is not there.
void print_part(nlohmann::json const& compiler, char const* key, char const* absent, bool verbose)
{
  if (!is(compiler, "found") || (!verbose && compiler.contains(key))) return;
  fmt::print("  {}: {}\n", key, compiler.value(key, absent));
}

/// {"found", "path", "reason", "version", "builtins", "headers", "tried"}. If it is not found or
/// does not compile: "message" and "hint".
nlohmann::json examine_nvrtc()
{
  auto json = examine_library<detail::nvrtc>();
  json["headers"] = header_folders();
  try_compile(json, k_cuda, "doctor.cu", detail::locate_nvrtc());
  if (!is(json, "found")) return json;
  if (auto const file = detail::builtins_of(text_of(json, "path")); !file.empty())
    json["builtins"] = file;
  return json;
}

/// {"found", "path", "reason", "version", "libdevice", "tried"}, likewise.
nlohmann::json examine_libnvvm()
{
  auto json = examine_library<detail::nvvm>();
  try_compile(json, k_ir, "doctor.ll", detail::locate(detail::nvvm_library()));
  if (!is(json, "found")) return json;
  if (auto const file = detail::libdevice_of(text_of(json, "path")); !file.empty())
    json["libdevice"] = file;
  return json;
}

/// Whether it is found and compiles.
bool is_compiler_usable(nlohmann::json const& compiler)
{
  return compiler.contains("version");
}

/// A line for each compiler, and one for each part that is missing; with `verbose` for every part.
/// Compilers are optional: if one is missing, the line says what it is for.
void print_compilers(nlohmann::json const& nvrtc, nlohmann::json const& libnvvm, bool verbose)
{
  print_first_line("NVRTC", "CUDA C++", nvrtc);
  print_candidates(nvrtc, verbose);
  if (verbose || !is_compiler_usable(nvrtc))
    print_part(nvrtc, "builtins",
               is_compiler_usable(nvrtc) ? "found by the dynamic loader" : "not found", verbose);
  print_headers(nvrtc, verbose);
  print_first_line("libNVVM", "LLVM IR", libnvvm);
  print_candidates(libnvvm, verbose);
  print_part(libnvvm, "libdevice", "not found", verbose);
}

struct verdict {
  std::string name;   ///< key in --json: "link", "run_on_gpu", …
  std::string title;  ///< "run on a GPU"
  bool ok = false;
  std::string detail = {};  ///< if ok: what works; else the cause
  std::string remedy = {};  ///< what to do; empty if nothing is needed
};

constexpr int k_cuda_major = 13;  // of linked cubins
constexpr char const* k_driver_remedy = "install NVIDIA's driver (580 or newer)";

/// "with nvJitLink 13.0", and whether it is newer than what fatlink was tested with.
std::string describe_used(char const* title, std::string const& version)
{
  auto const text = fmt::format("with {} {}", title, version);
  auto const used = detail::parse_toolkit_version(version);
  auto const newest = detail::newest_known_toolkit();
  if (!used || *used <= newest) return text;
  return fmt::format("{}, newer than the versions that fatlink {} was tested with (up to {})", text,
                     FATLINK_VERSION, to_string(newest));
}

verdict check_helper(nlohmann::json const& findings)
{
  auto const& helper = findings.at("link_helper");
  return {"helper", "helper", is_helper_usable(helper), text_of(helper, "reason"),
          text_of(helper, "hint")};
}

verdict check_link(nlohmann::json const& findings)
{
  auto const& linker = findings.at("nvjitlink");
  auto const& helper = findings.at("link_helper");
  auto const verdict_of = [](bool ok, std::string const& detail, std::string const& remedy) {
    return verdict{"link", "link", ok, detail, remedy};
  };
  if (is(findings, "offline"))
    return verdict_of(false, "offline mode is on: only links of cache layers are used",
                      "unset FATLINK_OFFLINE to link");
  if (!is(linker, "found"))
    return verdict_of(false, text_of(linker, "message"), text_of(linker, "hint"));
  if (!is(helper, "found"))
    return verdict_of(false, "links run in the helper, which is missing",
                      "see 'helper' below, or pass --in-process");
  if (!is_helper_usable(helper))
    return verdict_of(false, "links run in the helper, which does not start or is not confined",
                      text_of(helper, "hint"));
  return verdict_of(true, describe_used("nvJitLink", text_of(linker, "version")), {});
}

int major_of(std::string const& version)
{
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major;
}

verdict check_gpu(nlohmann::json const& findings, verdict const& link)
{
  auto const& driver = findings.at("driver");
  auto const& gpus = findings.at("gpus");
  auto const no = [](std::string const& detail, char const* remedy) {
    return verdict{"run_on_gpu", "run on a GPU", false, detail, remedy};
  };
  if (!is(driver, "found")) return no(text_of(driver, "reason"), k_driver_remedy);
  if (auto const cuda = text_of(driver, "cuda"); major_of(cuda) < k_cuda_major)
    return no(fmt::format("the driver is for CUDA {} and cannot load code of CUDA 13", cuda),
              k_driver_remedy);
  if (gpus.empty())
    return no("the driver shows no GPU",
              "use a machine with a GPU, and check CUDA_VISIBLE_DEVICES");
  auto const is_offline = is(findings, "offline");
  if (!link.ok && !is_offline) return no("linking does not work", "see 'link' above");
  return {"run_on_gpu", "run on a GPU", true,
          text_of(gpus.front(), "name") + (is_offline ? ", with links of cache layers" : "")};
}

verdict check_reference_device(nlohmann::json const& findings, verdict const& link)
{
  if (is(findings, "offline"))
    return {"run_on_reference_device", "run on the reference device", true,
            "in ptx mode, and with links of cache layers"};
  return {"run_on_reference_device", "run on the reference device", true,
          link.ok ? "" : "in ptx mode only", link.ok ? "" : "for lto mode see 'link' above"};
}

verdict check_cache(nlohmann::json const& findings)
{
  auto const& cache = findings.at("cache");
  return {"cache", "cache", is(cache, "usable"), text_of(cache, "reason"), text_of(cache, "hint")};
}

/// `key`: of the compiler, which is optional. `result` has its name and title.
verdict check_compiler(nlohmann::json const& findings, char const* key, char const* title,
                       verdict result)
{
  auto const& compiler = findings.at(key);
  result.ok = is_compiler_usable(compiler) && is_helper_usable(findings.at("link_helper"));
  if (result.ok) {
    result.detail = describe_used(title, text_of(compiler, "version"));
  } else if (is_compiler_usable(compiler)) {
    result.detail = "compiles run in the helper, which is not confined";
    result.remedy = "see 'helper' above";
  } else {
    result.detail = text_of(compiler, "message");
    result.remedy = text_of(compiler, "hint");
  }
  return result;
}

std::string answer_of(verdict const& result)
{
  auto text = result.ok ? colored(meaning::good, "yes") : colored(meaning::bad, "no");
  if (!result.detail.empty()) text += (result.ok ? ", " : ": ") + result.detail;
  return result.remedy.empty() ? text : text + "; " + result.remedy;
}

/// `findings`: the object that doctor prints with --json, without its verdicts.
std::vector<verdict> check_machine(nlohmann::json const& findings)
{
  auto const link = check_link(findings);
  return {link,
          check_gpu(findings, link),
          check_reference_device(findings, link),
          check_cache(findings),
          check_helper(findings),
          check_compiler(findings, "nvrtc", "NVRTC", {"compile_cuda", "compile CUDA C++"}),
          check_compiler(findings, "libnvvm", "libNVVM", {"compile_llvm_ir", "compile LLVM IR"})};
}

/// {"link": {"ok": true, "detail": "…", "remedy": ""}, …}
nlohmann::json report_json(std::vector<verdict> const& verdicts)
{
  auto object = nlohmann::json::object();
  for (auto const& result : verdicts)
    object[result.name] = {{"ok", result.ok}, {"detail", result.detail}, {"remedy", result.remedy}};
  return object;
}

/// One line each: "  link    yes", "  run on a GPU    no: CAUSE; REMEDY".
void print_verdicts(std::vector<verdict> const& verdicts)
{
  fmt::print("{}\n", colored(meaning::title, "What works:"));
  for (auto const& result : verdicts) fmt::print("  {:<28} {}\n", result.title, answer_of(result));
}

nlohmann::json examine_nvjitlink()
{
  auto json = examine_library<nvjitlink>();
  if (!is(json, "found")) return json;
  auto const library = nvjitlink::open();
  json["version"] = fmt::format("{}.{}", library->major(), library->minor());
  return json;
}

/// {"nvjitlink", "link_helper", "nvrtc", "libnvvm"}
nlohmann::json examine_tools()
{
  auto const nvjitlink = examine_nvjitlink();
  return {{"nvjitlink", nvjitlink},
          {"link_helper", examine_link_helper(nvjitlink.value("path", ""))},
          {"nvrtc", examine_nvrtc()},
          {"libnvvm", examine_libnvvm()}};
}

/// As above in offline mode.
nlohmann::json tools_not_searched()
{
  auto library = not_searched("message");
  library["tried"] = nlohmann::json::array();
  auto nvrtc = library;
  nvrtc["headers"] = nlohmann::json::array();
  return {{"nvjitlink", library},
          {"link_helper", not_searched("reason")},
          {"nvrtc", nvrtc},
          {"libnvvm", library}};
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
      "links work without the cache; set FATLINK_CACHE_DIR to a folder that only you can write to";
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

/// Folders that are not there only with `verbose`.
void print_search_path(nlohmann::json const& folders, bool verbose)
{
  auto const exists = [](nlohmann::json const& folder) { return is(folder, "exists"); };
  fmt::print("Fatbins by name (fatlink list):{}\n",
             verbose || std::ranges::any_of(folders, exists) ? "" : " none is installed");
  for (auto const& folder : folders)
    if (verbose || exists(folder))
      fmt::print("  {} ({}): {}\n", folder["folder"], folder["origin"],
                 is(folder, "exists") ? folder["fatbins"] : nlohmann::json("no such folder"));
}

/// The libraries of CUDA and the helper; with `verbose` also their parts, and the places that are
/// not used.
void print_tools(nlohmann::json const& report, bool verbose)
{
  auto const& linker = report["nvjitlink"];
  if (is(linker, "found"))
    fmt::print("nvJitLink {}: {} ({})\n", linker["version"], linker["path"], linker["reason"]);
  else
    fmt::print("nvJitLink: not found; install nvJitLink of CUDA 13, or set FATLINK_NVJITLINK\n");
  print_candidates(linker, verbose);
  print_link_helper(report["link_helper"], verbose);
  print_compilers(report["nvrtc"], report["libnvvm"], verbose);
}

/// What was found; with `verbose` also its parts, and the places that are not used.
void print_facts(nlohmann::json const& report, bool verbose)
{
  if (is(report, "offline"))
    fmt::print("Offline mode: on (FATLINK_OFFLINE)\n");
  else
    print_tools(report, verbose);
  auto const& driver = report["driver"];
  fmt::print("Driver: {}{}\n", is(driver, "found") ? "CUDA " : "",
             driver[is(driver, "found") ? "cuda" : "reason"]);
  for (auto const& gpu : report["gpus"])
    fmt::print("{}: {} ({}), {} MiB\n", gpu["device"], gpu["name"], gpu["target"],
               gpu["memory_bytes"].get<std::size_t>() >> 20);
  auto const& cache = report["cache"];
  if (!cache["path"].get<std::string>().empty())
    fmt::print("Cache: {}, {} entries\n", cache["path"], cache["entries"]);
  for (auto const& layer : cache["layers"])
    fmt::print("  shipped: {}, {} entries\n", layer["folder"], layer["entries"]);
  for (auto const& warning : cache["warnings"]) fmt::print("  warning: {}\n", warning);
  print_search_path(report["search_path"], verbose);
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_status)
{
  struct doctor_arguments {
    bool json = false;
    bool verbose = false;
  };
  auto arguments = std::make_shared<doctor_arguments>();
  auto* verb = app.add_subcommand(
      "doctor", "Show what works on this machine, what was found, and what to do.");
  auto* verbose = verb->add_flag(
      "--verbose", arguments->verbose,
      "also show the parts of each component and the searched places that are not used");
  verb->add_flag("--json", arguments->json, k_json_help)->excludes(verbose);
  verb->footer(
      "Exit status 5: nvJitLink or the helper is missing, or the kernel refuses the helper's "
      "sandbox.\n"
      "In offline mode (FATLINK_OFFLINE=1) these are not searched, and the status is 0.\n"
      "Missing GPUs, NVRTC or libNVVM do not change the status; only sources need NVRTC and "
      "libNVVM.");
  verb->callback([arguments, &exit_status] {
    auto const is_offline = cache::is_offline(false);
    auto report = is_offline ? tools_not_searched() : examine_tools();
    report.update({{"version", FATLINK_VERSION},
                   {"offline", is_offline},
                   {"driver", examine_driver()},
                   {"gpus", examine_gpus()},
                   {"cache", examine_cache()},
                   {"search_path", examine_search_path()}});
    auto const verdicts = check_machine(report);
    report["verdicts"] = report_json(verdicts);
    if (arguments->json) {
      print_json("fatlink.doctor/1", report);
    } else {
      fmt::print("fatlink {}\n", report["version"]);
      print_verdicts(verdicts);
      fmt::print("\n");
      print_facts(report, arguments->verbose);
    }
    exit_status = verdicts.front().ok || is_offline ? k_done : k_unavailable;  // that of linking
  });
}

}  // namespace fatlink::cli
