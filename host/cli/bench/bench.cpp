// SPDX-License-Identifier: Apache-2.0
// fatlink bench: kernel throughput, link latency, the speed of the reference device, and the
// start-up time of the program with an empty and with a filled cache.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "bench/bench.hpp"
#include "code_report.hpp"
#include "error_report.hpp"
#include "fatlink/nvjitlink.hpp"
#include "link_flags.hpp"
#include "options.hpp"
#include "run/run_arguments.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

void print_heading(nlohmann::json const& report)
{
  auto const& device = report["device"];
  auto const& driver = report["driver"];
  if (device.is_null())
    fmt::print("no GPU");
  else
    fmt::print("{} ({})", device["name"], device["target"]);
  if (!driver.is_null()) fmt::print(", driver CUDA {}", driver);
  fmt::print(", nvJitLink {}, library {}, transform {}, medians of {} rounds\n",
             report["nvjitlink"], report["library"], report["transform"], report["rounds"]);
}

void print_kernels(nlohmann::json const& rows)
{
  if (rows.empty()) return;
  fmt::print(
      "\n| elements | variant | µs | GB/s | of the copy rate | time over single source |\n"
      "|---:|---|---:|---:|---:|---:|\n");
  for (auto const& row : rows)
    fmt::print("| {} | {} | {:.2f} | {:.0f} | {:.3f} | {:.4f} |\n", row["elements"], row["variant"],
               row["us"], row["gb_per_s"], row["rate_over_copy"], row["time_over_single_source"]);
}

void print_links(nlohmann::json const& rows)
{
  if (rows.empty()) return;
  fmt::print(
      "\n| link | first, ms | median, ms | in fatlink-linkd, ms | overhead, ms |\n"
      "|---|---:|---:|---:|---:|\n");
  for (auto const& row : rows)
    fmt::print("| {} | {:.1f} | {:.2f} | {:.2f} | {:.2f} |\n", row["mode"], row["first_ms"],
               row["median_ms"], row["helper_median_ms"], row["helper_overhead_ms"]);
  for (auto const& row : rows) {
    if (!row.contains("resources")) continue;
    fmt::print("\nThe {} link:\n", row["mode"]);
    print_resources(row["resources"], "  ");
  }
}

void print_two_steps(nlohmann::json const& rows)
{
  if (rows.empty()) return;
  fmt::print("\n| link in two steps, by | first step, ms | last link, ms |\n|---|---:|---:|\n");
  for (auto const& row : rows)
    fmt::print("| {} | {:.2f} | {:.2f} |\n", row["emit"], row["step_ms"], row["last_ms"]);
}

void print_first_launch(nlohmann::json const& rows)
{
  if (rows.empty()) return;
  fmt::print(
      "\n| first launch, cold cache | helper | image, ms | launch, ms | times sooner |\n"
      "|---|---|---:|---:|---:|\n");
  for (auto const& row : rows)
    fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.1f} |\n", row["tiers"], row["helper"],
               row["image_ms"], row["launch_ms"], row["times_sooner"]);
}

void print_nvcc(nlohmann::json const& nvcc)
{
  fmt::print("| nvcc {}, to a fatbin | | {:.2f} | {:.2f} |", nvcc["version"], nvcc["process_ms"],
             nvcc["cpu_ms"]);
  for ([[maybe_unused]] auto const* phase : k_phases) fmt::print(" |");
  fmt::print(" |\n");
}

void print_starts(nlohmann::json const& report)
{
  if (report["starts"].empty()) return;
  fmt::print("\n| start, ms | cache | whole process | processor |");
  for (auto const* phase : k_phases) fmt::print(" {} |", phase);
  fmt::print(" times faster |\n|---|---|---:|---:|");
  for ([[maybe_unused]] auto const* phase : k_phases) fmt::print("---:|");
  fmt::print("---:|\n");
  for (auto const& row : report["starts"]) {
    fmt::print("| {} | {} | {:.2f} | {:.2f} |", row["verb"], row["cache"], row["process_ms"],
               row["cpu_ms"]);
    for (auto const* phase : k_phases)
      fmt::print(" {:.3f} |", row.value(std::string(phase) + "_ms", nlohmann::json()));
    fmt::print(" {:.1f} |\n", row.value("times_faster", nlohmann::json()));
  }
  if (auto const& nvcc = report["nvcc"]; !nvcc.is_null()) print_nvcc(nvcc);
}

void print_reference_device(nlohmann::json const& rate)
{
  if (rate.is_null()) return;
  fmt::print(
      "\n| reference device | million PTX instructions / s / core | million elements / s / core |\n"
      "|---|---:|---:|\n| {}, {} cores | {:.0f} | {:.1f} |\n",
      rate["mode"], rate["cores"], rate["instructions_per_s_and_core"].get<double>() / 1e6,
      rate["elements_per_s_and_core"].get<double>() / 1e6);
}

/// The row of `rows` in which `key` is `value`; null if there is none.
nlohmann::json find_row(nlohmann::json const& rows, char const* key, std::string_view value)
{
  auto const row = std::ranges::find_if(
      rows, [&](nlohmann::json const& candidate) { return candidate[key] == value; });
  return row == rows.end() ? nlohmann::json() : *row;
}

/// The last LTO link of "kernels", the one with most elements.
nlohmann::json largest_lto(nlohmann::json const& kernels)
{
  nlohmann::json largest;
  for (auto const& row : kernels)
    if (row["variant"] == "LTO link" &&
        (largest.is_null() || row["elements"] > largest["elements"]))
      largest = row;
  return largest;
}

/// "Result: the LTO link takes 512.48 µs for 268435456 elements, …": what of the tables a user
/// looks for. Parts that were not measured are left out.
void print_result(nlohmann::json const& report)
{
  std::vector<std::string> parts;
  if (auto const row = largest_lto(report["kernels"]); !row.is_null()) {
    parts.push_back(
        fmt::format("the LTO link takes {:.2f} µs for {} elements", row["us"], row["elements"]));
    if (!row["time_over_single_source"].is_null())
      parts.back() +=
          fmt::format(", {:.3f} times the time of a single source", row["time_over_single_source"]);
  }
  auto const& links = report["links"];
  if (!links.empty())
    parts.push_back(fmt::format("a new {} link takes {:.1f} ms", links.back()["mode"],
                                links.back()["median_ms"]));
  auto const& starts = report["starts"];
  auto const warm = find_row(starts, "cache", "warm");
  if (!warm.is_null() && warm["verb"] == "link")
    parts.push_back(
        fmt::format("a process with the link in the cache takes {:.1f} ms", warm["process_ms"]));
  if (!parts.empty()) fmt::print("\nResult: {}\n", fmt::join(parts, "; "));
}

/// The text output: tables in Markdown. `report`: the object of --json (docs/schemas/bench.json).
void print_bench(nlohmann::json const& report)
{
  print_heading(report);
  print_kernels(report["kernels"]);
  print_links(report["links"]);
  print_two_steps(report["two_steps"]);
  print_first_launch(report["first_launch"]);
  print_starts(report);
  if (auto const& ms = report["preflight_ms"]; !ms.is_null())
    fmt::print("\nPreflight of the pair: {:.3f} ms\n", ms);
  print_reference_device(report["reference_device"]);
  print_result(report);
}

/// What --only selects, in the order of the report.
std::vector<std::string> const k_parts{"kernels", "links",     "first-launch",
                                       "starts",  "preflight", "reference-device"};

struct bench_arguments {
  std::vector<std::size_t> elements{std::size_t{1} << 28};
  bool states_elements = false;  ///< whether --elements is given
  std::string library;
  std::vector<std::string> positional;  ///< transforms without --transform
  std::vector<std::string> transforms;
  std::string mode = "both";
  std::vector<std::string> values;
  link_flags link{.no_cache = true};
  unsigned repeat = 30;
  std::vector<std::string> parts = k_parts;
  bool resources = false;
  bool json = false;
};

/// The CUDA version of the driver, "13.0"; null without a driver.
nlohmann::json describe_driver()
{
  std::string reason;
  auto const version = driver_version(reason);
  if (version == 0) return nullptr;
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string describe_nvjitlink()
{
  auto const library = nvjitlink::open();
  return fmt::format("{}.{}", library->major(), library->minor());
}

/// "gelu", or "load + store".
std::string describe_transforms(bench_job const& job)
{
  std::string text;
  for (std::size_t i = 1; i < job.files.size(); ++i)
    text += (i == 1 ? "" : " + ") + job.files[i].stem().string();
  return text;
}

bool is_measured(bench_arguments const& arguments, char const* part)
{
  return std::ranges::find(arguments.parts, part) != arguments.parts.end();
}

/// Adds "device" and "kernels"; returns the GPU, null without one.
std::shared_ptr<device> measure_gpu(nlohmann::json& report, bench_job const& job,
                                    bench_arguments const& arguments)
{
  report["device"] = nullptr;
  report["kernels"] = nlohmann::json::array();
  std::string reason;
  if (list_gpus(reason).empty()) {
    if (is_measured(arguments, "kernels"))
      print_warnings({fmt::format("kernel times are skipped: {}", reason)});
    return nullptr;
  }
  auto gpu = open_device("gpu");
  report["device"] = {{"name", gpu->info().name}, {"target", gpu->info().target.name()}};
  if (is_measured(arguments, "kernels"))
    report["kernels"] = measure_plan(*gpu, job, arguments.elements);
  return gpu;
}

/// Adds "first_launch". Without SASS, which is on request, the other parts are measured anyway.
void add_first_launch(nlohmann::json& report, bench_job const& job, device const* gpu,
                      target target, bool is_asked_for)
{
  std::string reason;
  report["first_launch"] = measure_first_launch(job, gpu, target, reason);
  if (is_asked_for && !reason.empty())
    print_warnings({fmt::format("the first launch is skipped: {}", reason)});
}

/// Adds the parts of --only; of the others an empty array or null.
void measure_parts(nlohmann::json& report, bench_job const& job, bench_arguments const& arguments)
{
  auto const gpu = measure_gpu(report, job, arguments);
  auto const target = gpu ? gpu->info().target : fatlink::target("sm_90");
  for (auto const* const part : {"links", "two_steps", "first_launch", "starts"})
    report[part] = nlohmann::json::array();
  for (auto const* const part : {"nvcc", "preflight_ms", "reference_device"})
    report[part] = nullptr;
  if (is_measured(arguments, "links")) {
    report["links"] = measure_links(job, target, arguments.resources);
    report["two_steps"] = measure_two_steps(job, target);
  }
  if (is_measured(arguments, "first-launch"))
    add_first_launch(report, job, gpu.get(), target, arguments.parts != k_parts);
  if (is_measured(arguments, "starts")) measure_starts(report, job, target);
  if (is_measured(arguments, "preflight")) report["preflight_ms"] = measure_preflight(job, target);
  if (is_measured(arguments, "reference-device"))
    report["reference_device"] = measure_reference_device(job);
}

int bench(bench_arguments const& arguments)
{
  auto job = read_job(arguments.library, arguments.transforms, arguments.mode, arguments.values,
                      arguments.link);
  if (arguments.states_elements && !job.has_free_size())
    refuse_elements(arguments.elements.front(), job.plan);
  job.rounds = arguments.repeat;
  nlohmann::json report{{"version", FATLINK_VERSION},
                        {"driver", describe_driver()},
                        {"nvjitlink", describe_nvjitlink()},
                        {"library", job.files.front().stem().string()},
                        {"transform", describe_transforms(job)},
                        {"kernel", job.kernel()},
                        {"rounds", job.rounds}};
  measure_parts(report, job, arguments);
  if (arguments.json)
    print_json("fatlink.bench/1", report);
  else
    print_bench(report);
  return k_done;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_status)
{
  auto arguments = std::make_shared<bench_arguments>();
  auto* verb = app.add_subcommand("bench", "Measure kernels, links and start-up.");
  {
    group_scope const scope(*verb, k_input_group);
    add_positional_transforms(*verb, arguments->positional);
    add_library(*verb, arguments->library);
    add_mode(*verb, arguments->mode);
  }
  add_counts(*verb, "--elements", arguments->elements, {1, std::uint64_t{1} << 36},
             "elements per launch, such as 1e6 or 1Mi,256Mi (default: 256Mi)")
      ->each([arguments](std::string const&) { arguments->states_elements = true; });
  add_choices(*verb, "--only", arguments->parts, k_parts, "parts to measure, separated by commas");
  add_count(*verb, "--repeat", arguments->repeat, {1, 10000}, "number of rounds");
  add_common_link_flags(*verb, arguments->link);
  verb->add_flag("--json", arguments->json, k_json_help);
  group_scope const scope(*verb, k_more_group);
  add_transforms(*verb, arguments->transforms);
  add_kernels(*verb, arguments->link.options.kernels,
              "kernel to measure; the other kernels are removed; repeat the option to keep several "
              "kernels, of which the first is measured (default: apply_transform, or the library's "
              "only kernel)");
  add_set(*verb, arguments->values);
  add_resources(*verb, arguments->resources);
  verb->footer(
      "Example: fatlink bench --elements 1Mi,256Mi\n"
      "Without a GPU, links for sm_90, start-up and the reference device are measured. A .cu file "
      "is "
      "also compiled with nvcc, if there is one: fatlink bench half.cu");
  verb->callback([arguments, &exit_status] {
    arguments->link.note_inputs({arguments->library});
    arguments->transforms.insert(arguments->transforms.begin(), arguments->positional.begin(),
                                 arguments->positional.end());
    arguments->link.note_inputs(arguments->transforms);
    exit_status = bench(*arguments);
  });
}

}  // namespace fatlink::cli
