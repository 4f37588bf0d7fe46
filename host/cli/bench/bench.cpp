// SPDX-License-Identifier: Apache-2.0
// fatlink bench: kernel throughput, link latency, the speed of the reference device, and the
// start-up time of the program with an empty and with a filled cache.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/bench_report.hpp"
#include "bench/kernel_times.hpp"
#include "bench/link_times.hpp"
#include "bench/reference_device_rate.hpp"
#include "bench/start_up.hpp"
#include "error_report.hpp"
#include "fatlink/device.hpp"
#include "fatlink/nvjitlink.hpp"
#include "installed.hpp"
#include "link_flags.hpp"
#include "option_flags.hpp"
#include "options.hpp"
#include "run/run_kernel.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

struct bench_arguments {
  std::vector<std::size_t> elements{std::size_t{1} << 28};
  std::string transform;
  std::string mode = "both";
  link_flags link;  ///< only its options
  unsigned repeat = 30;
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

/// The links to measure, one for each link mode.
std::vector<link_options> make_links(bench_arguments const& arguments, target target)
{
  std::vector<link_options> links;
  for (auto const mode : {link_mode::ptx, link_mode::lto})
    if (arguments.mode == "both" || arguments.mode == to_string(mode))
      links.push_back(arguments.link.make_options(target, mode, image_kind::cubin));
  return links;
}

/// @throws usage_error the options are not valid, or drop the kernel that is measured.
void check_options(bench_arguments const& arguments)
{
  (void)make_links(arguments, {});
  auto const& kernels = arguments.link.options.kernels;
  if (kernels.empty() ||
      std::find(kernels.begin(), kernels.end(), k_default_kernel) != kernels.end())
    return;
  fail_usage(
      fmt::format("--kernel {}: bench measures {}", fmt::join(kernels, ", "), k_default_kernel),
      kernels.front(), fmt::format("add --kernel {}", k_default_kernel));
}

/// Adds "device" and "kernels"; returns the target to link for, sm_90 without a GPU.
target measure_gpu(nlohmann::json& report, std::vector<fatbin> const& pair,
                   bench_arguments const& arguments, kernel_time_settings settings)
{
  report["device"] = nullptr;
  report["kernels"] = nlohmann::json::array();
  std::string reason;
  if (list_gpus(reason).empty()) {
    print_warnings({fmt::format("kernel times are skipped: {}", reason)});
    return target("sm_90");
  }
  auto const gpu = open_device("gpu");
  report["device"] = {{"name", gpu->info().name}, {"target", gpu->info().target.name()}};
  settings.links = make_links(arguments, gpu->info().target);
  report["kernels"] = measure_kernels(*gpu, pair, settings);
  return gpu->info().target;
}

int bench(bench_arguments const& arguments)
{
  check_options(arguments);
  auto const library = fatbin_or_default({}, k_shipped_library);
  auto const transform = fatbin_or_default(arguments.transform, k_shipped_transform);
  std::vector<fatbin> const pair{fatbin::read(library), fatbin::read(transform)};
  (void)select_kernel(pair, k_default_kernel);
  nlohmann::json report{{"version", FATLINK_VERSION},
                        {"driver", describe_driver()},
                        {"nvjitlink", describe_nvjitlink()},
                        {"transform", transform.stem().string()},
                        {"rounds", arguments.repeat}};
  auto const target = measure_gpu(report, pair, arguments,
                                  {.elements = arguments.elements,
                                   .rounds = arguments.repeat,
                                   .links = {},
                                   .has_single_source = transform.stem() == k_default_transform});
  report["links"] = measure_links(pair, make_links(arguments, target), arguments.repeat);
  report["starts"] = measure_starts(library, transform, target.name(), arguments.repeat);
  report["preflight_ms"] = measure_preflight(pair, target, arguments.repeat);
  report["reference_device"] = measure_reference_device(pair, arguments.repeat);
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
  add_counts(*verb, "--elements", arguments->elements, {1, std::uint64_t{1} << 36},
             "floats of a launch, for example 65536, 1e6 or 256Mi; separate several by commas "
             "(default: 256Mi)");
  verb->add_option("--transform", arguments->transform,
                   "name or fatbin (default: relu_poly, the only one with single-source rows)");
  add_choice(*verb, "--mode", arguments->mode, {"ptx", "lto", "both"}, "link mode");
  add_kernels(*verb, arguments->link.options.kernels,
              "keep only this kernel; apply_transform must be one of them; can be repeated");
  add_option_flags(*verb, arguments->link.options);
  add_count(*verb, "--repeat", arguments->repeat, {1, 10000}, "number of rounds");
  verb->add_flag("--json", arguments->json, k_json_help);
  verb->footer(
      "Example: fatlink bench --elements 1Mi,256Mi\n"
      "Without a GPU, links for sm_90, start-up and the reference device are measured.");
  verb->callback([arguments, &exit_status] { exit_status = bench(*arguments); });
}

}  // namespace fatlink::cli
