// SPDX-License-Identifier: Apache-2.0
#include "run/devices_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "error_report.hpp"
#include "fatlink/resources.hpp"
#include "resources_report.hpp"
#include "run/report_parts.hpp"

namespace fatlink::cli {
namespace {

/// Whether only GPUs ran: times of the reference device say nothing about memory.
bool is_of_gpus(devices_run const& run)
{
  return run.has_results() && std::ranges::none_of(run.devices, [](device_run const& device) {
           return !device.modes.empty() && device.info->kind == device_kind::cpu;
         });
}

double per_second(double count, double ms)
{
  return ms > 0 ? count / ms * 1e3 : 0;
}

/// Elements and bytes in a second.
nlohmann::json throughput(devices_run const& run, std::size_t elements, double ms, bool is_gpu)
{
  auto const count = static_cast<double>(elements);
  nlohmann::json json{{"elements_per_s", per_second(count, ms)}, {"gb_per_s", nullptr}};
  if (is_gpu) json["gb_per_s"] = per_second(count * run.element_bytes, ms) / 1e9;
  return json;
}

nlohmann::json device_to_json(device_run const& device)
{
  nlohmann::json json{{"device", device.device},
                      {"kind", nullptr},
                      {"name", nullptr},
                      {"target", nullptr},
                      {"first", device.part.first},
                      {"elements", device.part.count},
                      {"error", nullptr}};
  if (device.failure) json["error"] = report_of(device.failure).json;
  if (!device.info) return json;
  json["kind"] = to_string(device.info->kind);
  json["name"] = device.info->name;
  json["target"] = device.info->target.name();
  return json;
}

nlohmann::json verification_to_json(verification const& result)
{
  nlohmann::json json{{"max_ulp", to_number(result.max_ulp)},
                      {"max_abs_error", to_number(result.max_abs_error)}};
  if (result.failures != 0) json["first_failure"] = first_failure_to_json(result);
  return json;
}

nlohmann::json row_to_json(devices_run const& run, device_run const& device,
                           mode_on_device const& mode)
{
  nlohmann::json json{{"device", device.device},
                      {"elements", device.part.count},
                      {"load_ms", mode.load_ms},
                      {"run_ms", mode.run_ms},
                      {"verified", nullptr},
                      {"max_ulp", nullptr},
                      {"max_abs_error", nullptr},
                      {"reference", comparisons_to_json(mode.references)},
                      {"expected", comparisons_to_json(mode.expectations)}};
  json.update(
      throughput(run, device.part.count, mode.run_ms, device.info->kind == device_kind::gpu));
  if (auto const result = is_verified(mode)) json["verified"] = *result;
  if (mode.against_reference) json.update(verification_to_json(*mode.against_reference));
  return json;
}

nlohmann::json link_to_json(devices_run const& run, linked_image const& image)
{
  nlohmann::json json{{"target", image.target.name()},
                      {"kind", to_string(image.kind)},
                      {"cache", to_string(image.cache)},
                      {"inlined", image.inlined()},
                      {"link_ms", image.link_ms}};
  if (run.whole.resources) json["resources"] = describe_resources(resources(image));
  return json;
}

nlohmann::json mode_to_json(devices_run const& run, std::size_t mode)
{
  auto const total = total_of(run, mode);
  nlohmann::json json{{"mode", to_string(run.modes[mode])},
                      {"links", nlohmann::json::array()},
                      {"devices", nlohmann::json::array()},
                      {"total",
                       {{"devices", total.devices},
                        {"elements", total.elements},
                        {"run_ms", total.run_ms},
                        {"span_ms", total.span_ms}}}};
  json["total"].update(throughput(run, total.elements, total.run_ms, is_of_gpus(run)));
  for (auto const& image : run.images[mode]) json["links"].push_back(link_to_json(run, *image));
  for (auto const& device : run.devices)
    if (!device.modes.empty())
      json["devices"].push_back(row_to_json(run, device, device.modes[mode]));
  return json;
}

std::string rate_text(devices_run const& run, std::size_t elements, double ms, bool is_gpu)
{
  auto const count = static_cast<double>(elements);
  if (is_gpu)
    return fmt::format("{:.0f} GB/s read and written",
                       per_second(count * run.element_bytes, ms) / 1e9);
  return fmt::format("{:.3g} elements a second", per_second(count, ms));
}

std::string verification_text(devices_run const& run, mode_on_device const& mode)
{
  if (run.plan.empty())
    return describe_verification(run.whole, mode.against_reference.value_or(verification{}));
  auto const result = is_verified(mode);
  return !result ? "not verified" : *result ? "verified" : "WRONG";
}

void print_row(devices_run const& run, device_run const& device, std::size_t index)
{
  if (device.failure) {
    fmt::print("    {:<10} FAILED: {}\n", device.device, report_of(device.failure).message);
    return;
  }
  auto const& mode = device.modes[index];
  fmt::print("    {:<10} {:>13} elements {:>10.4f} ms, {}; loaded in {:.1f} ms; {}\n",
             device.device, with_commas(device.part.count), mode.run_ms,
             rate_text(run, device.part.count, mode.run_ms, device.info->kind == device_kind::gpu),
             mode.load_ms, verification_text(run, mode));
  if (mode.against_reference) print_failure(device.device.c_str(), *mode.against_reference);
  print_comparisons("reference", mode.references);
  print_comparisons("--expect", mode.expectations);
}

void print_mode(devices_run const& run, std::size_t mode)
{
  auto const total = total_of(run, mode);
  auto const links = run.images[mode].size();
  fmt::print("[{}] {}: {} link{}, {} load{}\n", mode + 1, title_of(run.modes[mode]), links,
             links == 1 ? "" : "s", total.devices, total.devices == 1 ? "" : "s");
  for (auto const& image : run.images[mode]) {
    fmt::print("    {} for {} in {:.1f} ms{}\n", to_string(image->kind), image->target.name(),
               link_time(*image, 0), describe_link(*image));
    if (run.whole.resources) print_resources(describe_resources(resources(*image)), "    ");
  }
  for (auto const& device : run.devices) print_row(run, device, mode);
  fmt::print(
      "    {:<10} {:>13} elements {:>10.4f} ms, {}; {:.4f} ms from the first start to the last "
      "end\n",
      "total", with_commas(total.elements), total.run_ms,
      rate_text(run, total.elements, total.run_ms, is_of_gpus(run)), total.span_ms);
}

std::string describe_part(device_run const& device)
{
  if (device.part.count == 0) return "no elements";
  return fmt::format("elements {} to {}", with_commas(device.part.first),
                     with_commas(device.part.first + device.part.count - 1));
}

void print_first_results(devices_run const& run)
{
  for (auto const& row : run.first_results) {
    fmt::print("  {}[{}]", row.value("output", "element"), row["index"].get<std::string>());
    for (auto const* const key : {"input", "ptx", "lto", "sass", "expected"})
      if (row.contains(key)) fmt::print("  {} {}", key, row[key].get<std::string>());
    fmt::print("\n");
  }
}

/// "agree", "reference" and "not_verified", which a plan does not have, and "first_disagreement".
nlohmann::json verification_to_json(devices_run const& run)
{
  auto json = verification_to_json(run.whole);
  if (!run.plan.empty())
    json["not_verified"] = nullptr;
  else if (!run.has_results() && !run.whole.expected)
    json["not_verified"] =
        run.whole.no_reference + "; every device failed, so nothing was verified";
  return json;
}

}  // namespace

nlohmann::json to_json(devices_run const& run)
{
  nlohmann::json json{{"device_ms", run.whole.device_ms},
                      {"library", run.whole.library},
                      {"transform", run.whole.transform},
                      {"files", run.whole.files},
                      {"plan", nullptr},
                      {"kernel", nullptr},
                      {"sizes", run.sizes},
                      {"elements", run.whole.elements},
                      {"devices", nlohmann::json::array()},
                      {"modes", nlohmann::json::array()},
                      {"between", comparisons_to_json(run.between)},
                      {"filled_hooks", run.whole.filled_hooks},
                      {"results", run.first_results},
                      {"compiles", compiles_to_json(run.whole.compiles)},
                      {"warnings", run.whole.warnings}};
  (run.plan.empty() ? json["kernel"] : json["plan"]) =
      run.plan.empty() ? run.whole.kernel : run.plan;
  json.update(verification_to_json(run));
  for (auto const& device : run.devices) json["devices"].push_back(device_to_json(device));
  for (std::size_t i = 0; i < run.modes.size(); ++i) json["modes"].push_back(mode_to_json(run, i));
  return json;
}

void print_text(devices_run const& run)
{
  for (auto const& device : run.devices)
    fmt::print("Device {}: {}, {}\n", device.device,
               device.info ? describe_device(*device.info, {}) : "not opened",
               describe_part(device));
  fmt::print("Library {}, transform {}, {} element{}\n", run.whole.library, run.whole.transform,
             with_commas(run.whole.elements), run.whole.elements == 1 ? "" : "s");
  for (auto const& [name, size] : run.sizes) fmt::print("  {:<12} {}\n", name, size);
  print_compiles(run.whole.compiles);
  for (std::size_t i = 0; i < run.modes.size(); ++i) print_mode(run, i);
  if (run.plan.empty() && run.has_results()) print_agreement(run.whole);
  print_comparisons("both modes", run.between);
  print_first_results(run);
}

void print_failures(devices_run const& run)
{
  for (auto const& device : run.devices)
    if (device.failure) print_device_failure(device.device, device.failure);
}

}  // namespace fatlink::cli
