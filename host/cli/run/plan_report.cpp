// SPDX-License-Identifier: Apache-2.0
#include "run/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fatlink/resources.hpp"
#include "plan/components.hpp"
#include "resources_report.hpp"
#include "run/report_parts.hpp"
#include "run/run_report.hpp"

namespace fatlink::cli {
namespace {

/// "1 element", "1000 elements".
std::string count_text(std::size_t elements)
{
  return fmt::format("{} element{}", elements, elements == 1 ? "" : "s");
}

bool has_failed(comparisons const& results)
{
  return std::ranges::any_of(results, [](auto const& entry) { return entry.second.failures != 0; });
}

/// "verified, …", "WRONG: …", "not verified: …".
std::string describe(output_verification const& result)
{
  if (!result.reason.empty()) return "not verified: " + result.reason;
  if (result.failures == 0 && result.method.starts_with(k_without_bound))
    return fmt::format("verified, {}, {}", count_text(result.elements), k_without_bound);
  if (result.failures == 0 && result.unbounded == 0)
    return fmt::format("verified, {}, largest error {:.3g} of the bound",
                       count_text(result.elements), result.max_ratio);
  if (result.failures == 0)
    return fmt::format("not verified: of {} of {} the bound exceeds the type's range",
                       result.unbounded, count_text(result.elements));
  return fmt::format("WRONG: {} of {}; the first is element {}{}: {}, expected {} ± {:.3g}",
                     result.failures, count_text(result.elements), result.first_failure,
                     result.component.empty() ? "" : " (" + result.component + ")", result.actual,
                     result.expected, result.bound);
}

std::string element_text(host_array const& array, std::size_t index)
{
  auto const parts = detail::components_of(array.type);
  auto const* const place = array.bytes.data() + index * array.type.size;
  std::string text;
  for (auto const& part : parts)
    text +=
        fmt::format("{}{}{}", text.empty() ? "" : ", ", part.name.empty() ? "" : part.name + ": ",
                    detail::to_text(part.kind, detail::load(part.kind, place + part.offset)));
  return parts.size() == 1 && parts[0].name.empty() ? text : "{" + text + "}";
}

/// "53", or of an array with several extents "1, 0".
std::string index_text(host_array const& array, std::size_t index)
{
  std::string text;
  for (auto extent = array.extents.rbegin(); extent != array.extents.rend(); ++extent) {
    auto const part = *extent == 0 ? 0 : index % *extent;
    text = fmt::format("{}{}{}", part, text.empty() ? "" : ", ", text);
    index /= std::max<std::size_t>(*extent, 1);
  }
  return text;
}

}  // namespace

void print_comparisons(char const* title, comparisons const& results)
{
  for (auto const& [name, result] : results)
    fmt::print("  {:<12} {}: {}\n", title, name, describe(result));
}

nlohmann::json comparisons_to_json(comparisons const& results)
{
  auto json = nlohmann::json::array();
  for (auto const& [name, result] : results) {
    nlohmann::json entry{{"output", name}, {"verified", nullptr}, {"reason", nullptr}};
    if (!result.reason.empty()) {
      entry["reason"] = result.reason;
    } else {
      entry["verified"] = result.failures == 0 && result.unbounded == 0;
      entry["method"] = result.method;
      entry["elements"] = result.elements;
      entry["failures"] = result.failures;
      entry["unbounded"] = result.unbounded;
      entry["max_ratio"] = to_number(result.max_ratio);
    }
    if (result.failures != 0)
      entry["first_failure"] = {{"index", result.first_failure},
                                {"component", result.component},
                                {"actual", result.actual},
                                {"expected", result.expected}};
    json.push_back(std::move(entry));
  }
  return json;
}

nlohmann::json first_elements(plan_summary const& run)
{
  auto rows = nlohmann::json::array();
  for (auto const& [name, array] : run.modes.front().outputs) {
    auto const expected = run.expected_text.find(name);
    for (std::size_t i = 0; i < std::min(run.printed, array.count()); ++i) {
      nlohmann::json row{{"output", name}, {"index", index_text(array, i)}};
      for (auto const& mode : run.modes)
        if (auto const& output = mode.outputs.at(name); i < output.count())
          row[to_string(mode.image.mode)] = element_text(output, i);
      if (expected != run.expected_text.end() && i < expected->second.size())
        row["expected"] = expected->second[i];
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

bool plan_summary::verified() const
{
  if (has_failed(between) || has_failed(against_cpu)) return false;
  return std::ranges::none_of(modes, [](mode_result const& mode) {
    return has_failed(mode.verifications) || has_failed(mode.expectations);
  });
}

namespace {

void print_elements(plan_summary const& run)
{
  for (auto const& row : first_elements(run)) {
    fmt::print("  {}[{}]", row["output"].get<std::string>(), row["index"].get<std::string>());
    for (auto const* const key : {"ptx", "lto", "sass", "expected"})
      if (row.contains(key)) fmt::print("  {} {}", key, row[key].get<std::string>());
    fmt::print("\n");
  }
}

nlohmann::json to_json(plan_summary const& run, mode_result const& mode)
{
  nlohmann::json json{{"mode", to_string(mode.image.mode)},
                      {"cache", to_string(mode.image.cache)},
                      {"inlined", mode.image.inlined()},
                      {"link_ms", mode.image.link_ms},
                      {"load_ms", mode.load_ms},
                      {"run_ms", mode.run_ms},
                      {"reference", comparisons_to_json(mode.verifications)},
                      {"expected", comparisons_to_json(mode.expectations)}};
  json["start_ms"] = describe_start(mode.image, run.read_ms);
  json["start_ms"]["load"] = mode.load_ms;
  json["start_ms"]["launch"] = mode.launch_ms;
  if (run.resources) json["resources"] = describe_resources(resources(mode.image));
  return json;
}

void print_mode(plan_summary const& run, mode_result const& mode)
{
  fmt::print("{}: {:.1f} ms{}; launches {:.4f} ms\n", title_of(mode.image.mode),
             link_time(mode.image, mode.load_ms), describe_link(mode.image), mode.run_ms);
  if (run.resources) print_resources(describe_resources(resources(mode.image)), "  ");
  print_comparisons("reference", mode.verifications);
  print_comparisons("--expect", mode.expectations);
}

}  // namespace

nlohmann::json to_json(plan_summary const& run)
{
  auto modes = nlohmann::json::array();
  for (auto const& mode : run.modes) modes.push_back(to_json(run, mode));
  return {{"plan", run.plan.name},
          {"files", run.files},
          {"device", device_to_json(run.device, run.no_gpu_reason)},
          {"device_ms", run.device_ms},
          {"sizes", run.sizes},
          {"modes", std::move(modes)},
          {"between", comparisons_to_json(run.between)},
          {"reference_device", comparisons_to_json(run.against_cpu)},
          {"results", first_elements(run)},
          {"compiles", compiles_to_json(run.compiles)},
          {"warnings", run.warnings}};
}

void print_text(plan_summary const& run)
{
  fmt::print("Device: {}\n", describe_device(run.device, run.no_gpu_reason));
  fmt::print("{}: {}\n", run.plan.name, run.plan.summary);
  for (auto const& [name, size] : run.sizes) fmt::print("  {:<12} {}\n", name, size);
  print_compiles(run.compiles);
  for (auto const& mode : run.modes) print_mode(run, mode);
  print_comparisons("both modes", run.between);
  print_comparisons("cpu", run.against_cpu);
  print_elements(run);
}

}  // namespace fatlink::cli
