// SPDX-License-Identifier: Apache-2.0
#include "run/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fatlink/resources.hpp"
#include "installed.hpp"
#include "resources_report.hpp"
#include "run/report_parts.hpp"

namespace fatlink::cli {
namespace {

nlohmann::json to_json(extent const& size)
{
  return {size.x, size.y, size.z};
}

}  // namespace

nlohmann::json first_failure_to_json(verification const& result)
{
  return {{"index", result.first_failure},
          {"input", to_number(static_cast<double>(result.first_input))},
          {"actual", to_number(static_cast<double>(result.first_actual))},
          {"expected", to_number(result.first_expected)},
          {"failures", result.failures}};
}

nlohmann::json describe_start(linked_image const& image, double read_ms)
{
  return {{"read", read_ms},
          {"find", image.times.find_ms},
          {"preflight", image.times.preflight_ms},
          {"key", image.times.key_ms},
          {"lookup", image.times.lookup_ms},
          {"open", image.times.open_ms},
          {"link", image.link_ms}};
}

namespace {

/// Bytes read and written per second by the kernel; nothing on the reference device.
std::optional<double> compute_bandwidth(run_summary const& run, execution const& execution)
{
  constexpr double k_bytes_per_element = 2 * sizeof(float);
  if (run.device.kind != device_kind::gpu || execution.run_ms <= 0) return std::nullopt;
  return k_bytes_per_element * static_cast<double>(run.elements) / execution.run_ms / 1e6;
}

nlohmann::json mode_to_json(run_summary const& run, linked_image const& image,
                            execution const& execution)
{
  auto const& result = execution.against_reference;
  nlohmann::json json{
      {"mode", to_string(image.mode)},   {"verified", nullptr},      {"max_ulp", nullptr},
      {"tolerance_ulp", nullptr},        {"max_abs_error", nullptr}, {"inlined", image.inlined()},
      {"cache", to_string(image.cache)}, {"link_ms", image.link_ms}, {"load_ms", execution.load_ms},
      {"run_ms", execution.run_ms},      {"gb_per_s", nullptr}};
  if (auto const rate = compute_bandwidth(run, execution)) json["gb_per_s"] = *rate;
  json["start_ms"] = describe_start(image, run.read_ms);
  json["start_ms"]["load"] = execution.load_ms;
  json["start_ms"]["launch"] = execution.launch_ms;
  if (run.resources) json["resources"] = describe_resources(resources(image));
  if (!run.expected) return json;
  json["verified"] = result.verified();
  json["max_ulp"] = to_number(result.max_ulp);
  json["tolerance_ulp"] = run.expected->tolerance_ulp;
  json["max_abs_error"] = to_number(result.max_abs_error);
  if (result.failures != 0) json["first_failure"] = first_failure_to_json(result);
  return json;
}

}  // namespace

std::string describe_verification(run_summary const& run, verification const& result)
{
  if (!run.expected) return "not verified: " + run.no_reference;
  return fmt::format("{}, max {:.3g} ulp (tolerance {:g})",
                     result.verified() ? "verified" : "WRONG", result.max_ulp,
                     run.expected->tolerance_ulp);
}

void print_failure(char const* title, verification const& result)
{
  if (result.failures == 0) return;
  fmt::print(
      "{}: {} of {} elements are wrong; the first is element {}: f({:.9g}) is {:.9g}, expected "
      "{:.9g}\n",
      title, result.failures, result.elements, result.first_failure, result.first_input,
      result.first_actual, result.first_expected);
}

namespace {

nlohmann::json to_json(reference const& stated)
{
  return {{"file", stated.file},
          {"name", stated.name},
          {"hook", stated.hook},
          {"expression", stated.expression},
          {"tolerance_ulp", stated.tolerance_ulp}};
}

/// Why the results were not compared with a reference, and what was checked instead; null if they
/// were.
nlohmann::json explain_not_verified(run_summary const& run)
{
  if (run.expected) return nullptr;
  if (!run.results.between)
    return run.no_reference + "; a single mode ran, so nothing was verified";
  return run.no_reference +
         (run.results.between->verified() ? "; the modes agree" : "; the modes disagree");
}

nlohmann::json results_to_json(run_summary const& run)
{
  auto rows = nlohmann::json::array();
  for (auto const& result : run.results.first_results) {
    nlohmann::json row{{"index", rows.size()},
                       {"input", to_number(static_cast<double>(result.input))}};
    for (std::size_t i = 0; i < run.images.size(); ++i)
      row[to_string(run.images[i].mode)] = to_number(static_cast<double>(result.actual[i]));
    if (result.expected) row["expected"] = to_number(*result.expected);
    rows.push_back(row);
  }
  return rows;
}

void print_row(std::string const& index, std::vector<std::string> const& values)
{
  fmt::print("{:>10}", index);
  for (auto const& value : values) fmt::print(" {:>16}", value);
  fmt::print("\n");
}

}  // namespace

bool run_summary::verified() const
{
  auto const is_correct = [&](execution const& execution) {
    return execution.against_reference.verified();
  };
  if (expected && !std::all_of(results.images.begin(), results.images.end(), is_correct))
    return false;
  return !results.between || results.between->verified();
}

nlohmann::json verification_to_json(run_summary const& run)
{
  nlohmann::json json{
      {"agree", nullptr}, {"reference", nullptr}, {"not_verified", explain_not_verified(run)}};
  if (run.expected) json["reference"] = to_json(*run.expected);
  if (!run.results.between) return json;
  json["agree"] = run.results.between->verified();
  if (!run.results.between->verified())
    json["first_disagreement"] = first_failure_to_json(*run.results.between);
  return json;
}

nlohmann::json to_json(run_summary const& run)
{
  auto json = nlohmann::json{{"device", device_to_json(run.device, run.no_gpu_reason)},
                             {"device_ms", run.device_ms},
                             {"verify_ms", run.results.verify_ms},
                             {"library", run.library},
                             {"transform", run.transform},
                             {"files", run.files},
                             {"kernel", run.kernel},
                             {"grid", to_json(run.results.shape.grid)},
                             {"block", to_json(run.results.shape.block)},
                             {"elements", run.elements},
                             {"modes", nlohmann::json::array()},
                             {"filled_hooks", run.filled_hooks},
                             {"results", results_to_json(run)},
                             {"compiles", compiles_to_json(run.compiles)},
                             {"warnings", run.warnings}};
  json.update(verification_to_json(run));
  for (std::size_t i = 0; i < run.images.size(); ++i)
    json["modes"].push_back(mode_to_json(run, run.images[i], run.results.images[i]));
  return json;
}

void print_results(run_summary const& run)
{
  if (run.results.first_results.empty()) return;
  std::vector<std::string> titles{"input"};
  for (auto const& image : run.images) titles.emplace_back(to_string(image.mode));
  if (run.expected) titles.emplace_back("expected");
  print_row("element", titles);
  std::size_t index = 0;
  for (auto const& result : run.results.first_results) {
    std::vector<std::string> values{fmt::format("{:.9g}", result.input)};
    for (auto const value : result.actual) values.push_back(fmt::format("{:.9g}", value));
    if (result.expected) values.push_back(fmt::format("{:.9g}", *result.expected));
    print_row(std::to_string(index++), values);
  }
}

void print_agreement(run_summary const& run)
{
  if (!run.results.between) {
    if (!run.expected)
      fmt::print("Nothing was verified: a single mode ran, and there is no reference.\n");
    return;
  }
  if (run.results.between->verified())
    fmt::print("Both modes agree.{}\n", run.expected ? "" : " Nothing else was checked.");
  else
    print_failure("The modes disagree (f is lto, expected is ptx)", *run.results.between);
}

void print_text(run_summary const& run)
{
  fmt::print("Device: {}\n", describe_device(run.device, run.no_gpu_reason));
  fmt::print("Library {}{}, transform {}, {} element{}\n", run.library,
             run.kernel == k_default_kernel ? "" : ", kernel " + run.kernel, run.transform,
             with_commas(run.elements), run.elements == 1 ? "" : "s");
  print_compiles(run.compiles);
  for (std::size_t i = 0; i < run.images.size(); ++i) {
    auto const& result = run.results.images[i].against_reference;
    fmt::print("[{}] {:<32} {:>6.1f} ms   {}{}\n", i + 1, title_of(run.images[i].mode),
               link_time(run.images[i], run.results.images[i].load_ms),
               describe_verification(run, result), describe_link(run.images[i]));
    print_failure(to_string(run.images[i].mode), result);
    if (auto const rate = compute_bandwidth(run, run.results.images[i]))
      fmt::print("    kernel {:.4f} ms, {:.0f} GB/s read and written\n",
                 run.results.images[i].run_ms, *rate);
    if (run.resources) print_resources(describe_resources(resources(run.images[i])), "    ");
  }
  print_agreement(run);
  print_results(run);
}

}  // namespace fatlink::cli
