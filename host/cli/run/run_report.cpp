// SPDX-License-Identifier: Apache-2.0
#include "run/run_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <span>
#include <string>

#include "code_report.hpp"
#include "error_report.hpp"
#include "fatlink/resources.hpp"
#include "installed.hpp"
#include "run/sidecar_form.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

/// A finite number; "inf", "-inf" and "nan" for others, which JSON does not have.
nlohmann::json to_number(double value)
{
  if (std::isfinite(value)) return value;
  return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
}

/// "1,048,576".
std::string with_commas(std::size_t value)
{
  auto const digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

/// "H200 (sm_90), as there is no GPU (no driver)". `no_gpu_reason`: empty if a GPU was not looked
/// for, or found.
std::string describe_device(device_info const& device, std::string const& no_gpu_reason)
{
  auto text = fmt::format("{} ({})", device.name, device.target.name());
  if (no_gpu_reason.empty()) return text;
  return text +
         fmt::format(", as there is no GPU ({})", no_gpu_reason.substr(0, no_gpu_reason.find(':')));
}

/// "LTO link (link-time optimized)".
std::string title_of(link_mode mode)
{
  auto const* const note = mode == link_mode::lto    ? "link-time optimized"
                           : mode == link_mode::sass ? "no compiler"
                                                     : "no LTO";
  return fmt::format("{} ({})", name_of(mode), note);
}

/// Time to the linked code, ms: of the link, or of its look-up in the cache. The reference device
/// links a set of PTX when it loads it, in `load_ms`.
double link_time(linked_image const& image, double load_ms)
{
  if (image.cache == cache_outcome::hit) return image.times.lookup_ms;
  return image.link_ms + (image.kind == image_kind::ptx_set ? load_ms : 0);
}

/// ", user_transform inlined" for each hook of a link in lto mode, ", load default" for those that
/// the library defines itself, and ", from the cache".
std::string describe_link(linked_image const& image)
{
  std::string text;
  for (auto const& hook : image.hooks)
    if (hook.is_default)
      text += fmt::format(", {} default", hook.name);
    else if (image.mode == link_mode::lto)
      text += fmt::format(", {} {}", hook.name,
                          hook.inlined ? "inlined" : colored(meaning::warning, "NOT INLINED"));
  return text + (image.cache == cache_outcome::hit ? ", from the cache" : "");
}

nlohmann::json compiles_to_json(compile_report const& compiles)
{
  auto rows = nlohmann::json::array();
  for (auto const& source : compiles.sources)
    rows.push_back({{"file", source.file.string()},
                    {"producer", source.producer},
                    {"cache", to_string(source.cache)},
                    {"ms", source.ms}});
  return rows;
}

/// A line for each source.
void print_compiles(compile_report const& compiles)
{
  for (auto const& source : compiles.sources)
    if (source.cache == cache_outcome::hit)
      fmt::print("Compiled {} with {}, from the cache\n", source.file.string(), source.producer);
    else
      fmt::print("Compiled {} with {} in {:.1f} ms\n", source.file.string(), source.producer,
                 source.ms);
}

bool has_failed(comparisons const& results)
{
  return std::ranges::any_of(results, [](auto const& entry) { return entry.second.failures != 0; });
}

/// Whether a comparison was made that says something.
bool is_compared(comparisons const& results)
{
  return std::ranges::any_of(results, [](auto const& entry) {
    return entry.second.reason.empty() && entry.second.unbounded == 0;
  });
}

/// All devices that ran, in one mode.
struct mode_total {
  std::size_t devices = 0;
  std::size_t rows = 0;
  double run_ms = 0;   ///< the slowest device's
  double span_ms = 0;  ///< from the first begin to the last end, by the clock of the host
  bool is_of_gpus = true;
};

mode_total total_of(run_report const& run, std::size_t index)
{
  mode_total total;
  time_span span;
  for (auto const& device : run.devices) {
    if (device.modes.size() <= index) continue;
    auto const& mode = device.modes[index];
    auto const is_first = total.devices++ == 0;
    total.rows += device.part.count;
    total.run_ms = std::max(total.run_ms, mode.run_ms);
    total.is_of_gpus = total.is_of_gpus && device.info->kind == device_kind::gpu;
    span.begin = is_first ? mode.measured.begin : std::min(span.begin, mode.measured.begin);
    span.end = std::max(span.end, mode.measured.end);
  }
  total.span_ms = std::chrono::duration<double, std::milli>(span.end - span.begin).count();
  return total;
}

// The library and the transforms of a run.

std::string library_of(run_report const& run)
{
  return std::filesystem::path(run.files.front()).stem().string();
}

std::string transforms_of(run_report const& run)
{
  std::string text;
  for (auto const& file : std::span(run.files).subspan(1))
    text += (text.empty() ? "" : " + ") + std::filesystem::path(file).stem().string();
  return text;
}

// Times. Those of the reference device say nothing about memory.

double per_second(double count, double ms)
{
  return ms > 0 ? count / ms * 1e3 : 0;
}

nlohmann::json throughput(run_report const& run, std::size_t rows, double ms, bool is_gpu)
{
  nlohmann::json json{{"elements_per_s", nullptr}, {"gb_per_s", nullptr}};
  if (!run.rows || ms <= 0) return json;
  auto const count = static_cast<double>(rows);
  json["elements_per_s"] = per_second(count, ms);
  if (is_gpu) json["gb_per_s"] = per_second(count * static_cast<double>(run.row_bytes), ms) / 1e9;
  return json;
}

/// ", 2900 GB/s read and written".
std::string rate_text(run_report const& run, std::size_t rows, double ms, bool is_gpu)
{
  if (!run.rows || ms <= 0) return {};
  auto const count = static_cast<double>(rows);
  if (is_gpu)
    return fmt::format(", {:.0f} GB/s read and written",
                       per_second(count * static_cast<double>(run.row_bytes), ms) / 1e9);
  return fmt::format(", {:.3g} elements per second", per_second(count, ms));
}

// Comparisons.

/// "1 element", "1,000 elements".
std::string count_text(std::size_t elements)
{
  return fmt::format("{} element{}", with_commas(elements), elements == 1 ? "" : "s");
}

std::string error_text(output_verification const& result)
{
  if (result.max_ratio == 0 && !result.tolerance_ulp) return "no difference";
  if (auto const ulp = result.max_ulp())
    return fmt::format("max {:.3g} ulp (tolerance {:g})", *ulp, *result.tolerance_ulp);
  return fmt::format("largest error {:.3g} times the bound", result.max_ratio);
}

/// " (in: 0.5)".
std::string inputs_text(run_report const& run, std::string const& output)
{
  auto const place = run.results.failing_inputs.find(output);
  if (place == run.results.failing_inputs.end() || place->second.empty()) return {};
  std::string text;
  for (auto const& [name, value] : place->second)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, value);
  return " (" + text + ")";
}

/// A tolerance in ULP, in two digits, that accepts every element; empty: none that a sidecar may
/// state does, or the bound has other parts.
std::optional<double> accepting_ulp(output_verification const& result)
{
  auto const ulp = result.max_ulp();
  auto const is_stateable = ulp && *ulp > 0 && *ulp <= k_most_tolerance_ulp;
  if (result.failures == 0 || !is_stateable) return std::nullopt;
  auto const unit = std::pow(10.0, std::floor(std::log10(*ulp)) - 1);
  auto const rounded = std::stod(fmt::format("{:.3g}", std::ceil(*ulp / unit) * unit));
  return std::min(rounded, k_most_tolerance_ulp);
}

/// The error of the worst element: "3.4 ulp", or "0.1".
std::string worst_error_text(output_verification const& result)
{
  auto const ulp = result.max_ulp();
  if (ulp && std::isfinite(*ulp) && *result.tolerance_ulp > 0)
    return fmt::format("{:.3g} ulp", *ulp);
  return fmt::format("{:.3g}", result.worst->error);
}

/// "; the worst is element 7: 1.5, expected 1, an error of 3.4 ulp".
std::string worst_text(output_verification const& result)
{
  if (!result.worst || !std::isfinite(result.worst->error)) return {};
  auto const& worst = *result.worst;
  return fmt::format("; the worst is element {}{}: {}, expected {}, an error of {}", worst.index,
                     worst.component.empty() ? "" : " (" + worst.component + ")", worst.actual,
                     worst.expected, worst_error_text(result));
}

/// What a sidecar states of one hook.
struct stated_hook {
  transform_reference const& sidecar;
  hook_reference const& hook;
};

/// Adds what the sidecars of `run` state of the hooks in `node`, each once.
void add_stated(std::vector<stated_hook>& list, run_report const& run, computation const& node)
{
  auto const is_listed = [&](stated_hook const& other) { return other.hook.hook == node.name; };
  if (std::ranges::none_of(list, is_listed))
    for (auto const& sidecar : run.references)
      if (auto const* const hook = sidecar.find(node.name)) {
        list.push_back({sidecar, *hook});
        break;
      }
  for (auto const& operand : node.operands) add_stated(list, run, operand);
}

/// What the expected values of `output` are computed from.
std::vector<stated_hook> stated_hooks(run_report const& run, std::string const& output)
{
  std::vector<stated_hook> list;
  auto const result = std::ranges::find(run.plan.results, output, &plan_result::output);
  if (result != run.plan.results.end()) add_stated(list, run, result->value);
  return list;
}

/// "scale(x) = 2 * x", of a struct "best(a, b) = {value: a.value, index: a.index}".
std::string formula_text(hook_reference const& hook)
{
  std::vector<std::string> parts;
  for (auto const& part : hook.result)
    parts.push_back(part.field.empty() ? part.text : fmt::format("{}: {}", part.field, part.text));
  auto const is_struct = !hook.result.empty() && !hook.result.front().field.empty();
  return fmt::format("{}({}) = {}{}{}", hook.hook, fmt::join(hook.parameters, ", "),
                     is_struct ? "{" : "", fmt::join(parts, ", "), is_struct ? "}" : "");
}

nlohmann::json formulas_to_json(std::vector<stated_hook> const& stated)
{
  auto rows = nlohmann::json::array();
  for (auto const& [sidecar, hook] : stated)
    rows.push_back({{"hook", hook.hook},
                    {"transform", sidecar.subject},
                    {"sidecar", sidecar.file},
                    {"formula", formula_text(hook)}});
  return rows;
}

/// As above, for all modes.
std::optional<double> accepting_ulp(run_report const& run, std::string const& output)
{
  double most = 0;
  for (auto const& mode : run.results.modes) {
    auto const place = mode.references.find(output);
    if (place == mode.references.end() || place->second.failures == 0) continue;
    auto const ulp = accepting_ulp(place->second);
    if (!ulp) return std::nullopt;
    most = std::max(most, *ulp);
  }
  return most;
}

/// Under a wrong result: the transform, the formula that its sidecar states, and a tolerance that
/// accepts the results of all modes.
void print_causes(run_report const& run, std::string const& output)
{
  auto const stated = stated_hooks(run, output);
  for (auto const& [sidecar, hook] : stated)
    fmt::print("               {} is compared with {} of {}\n", sidecar.subject, formula_text(hook),
               sidecar.file);
  auto const ulp = accepting_ulp(run, output);
  if (!ulp || stated.empty()) return;
  auto const& sidecar = stated.front().sidecar;
  fmt::print("               {} in {} accepts every element\n",
             sidecar.states_hooks ? fmt::format("\"tolerance\": {{\"ulp\": {:g}}}", *ulp)
                                  : fmt::format("\"tolerance_ulp\": {:g}", *ulp),
             sidecar.file);
}

nlohmann::json worst_to_json(worst_element const& worst)
{
  return {{"index", worst.index},
          {"component", worst.component},
          {"actual", worst.actual},
          {"expected", worst.expected},
          {"error", to_number(worst.error)}};
}

/// Of "verified" (true), "WRONG" (false) or "not verified".
std::string verdict_text(std::optional<bool> verified)
{
  if (!verified) return colored(meaning::warning, "not verified");
  return *verified ? colored(meaning::good, "verified") : colored(meaning::bad, "WRONG");
}

/// "verified, …", "WRONG: …", "not verified: …"; "agree, …" where nothing states a bound.
std::string comparison_text(output_verification const& result, std::string const& inputs)
{
  if (!result.reason.empty()) return fmt::format("{}: {}", verdict_text({}), result.reason);
  if (result.failures == 0 && result.method.starts_with(k_without_bound))
    return fmt::format("{}, {}, {}", colored(meaning::good, "agree"), count_text(result.elements),
                       k_without_bound);
  if (result.failures == 0 && result.unbounded == 0)
    return fmt::format("{}, {}, {}", verdict_text(true), count_text(result.elements),
                       error_text(result));
  if (result.failures == 0)
    return fmt::format("{}: for {} of {}, the bound exceeds the type's range", verdict_text({}),
                       result.unbounded, count_text(result.elements));
  return fmt::format("{}: {} of {}; the first is element {}{}{}: {}, expected {} ± {:.3g}",
                     verdict_text(false), with_commas(result.failures), count_text(result.elements),
                     result.first_failure,
                     result.component.empty() ? "" : " (" + result.component + ")", inputs,
                     result.actual, result.expected, result.bound) +
         worst_text(result);
}

void print_comparisons(run_report const& run, char const* title, comparisons const& results)
{
  for (auto const& [name, result] : results)
    fmt::print("  {:<12} {}: {}\n", title, name, comparison_text(result, inputs_text(run, name)));
}

bool is_wrong(comparisons const& results, std::string const& output)
{
  auto const place = results.find(output);
  return place != results.end() && place->second.failures != 0;
}

/// Of mode `index` with the values that the sidecars state; the causes under the first mode whose
/// results are wrong.
void print_references(run_report const& run, std::size_t index)
{
  auto const modes = std::span(run.results.modes);
  for (auto const& reference : modes[index].references) {
    auto const& output = reference.first;
    if (!reference.second.reason.empty()) continue;  // print_unverified
    print_comparisons(run, "reference", {reference});
    auto const is_known = std::ranges::any_of(
        modes.first(index), [&](auto const& mode) { return is_wrong(mode.references, output); });
    if (reference.second.failures != 0 && !is_known) print_causes(run, output);
  }
}

nlohmann::json optional_number(std::optional<double> const& value)
{
  return value ? to_number(*value) : nlohmann::json();
}

nlohmann::json first_failure_to_json(run_report const& run, std::string const& name,
                                     output_verification const& result)
{
  nlohmann::json json{{"index", result.first_failure},
                      {"component", result.component},
                      {"inputs", nlohmann::json::object()},
                      {"actual", result.actual},
                      {"expected", result.expected}};
  auto const inputs = run.results.failing_inputs.find(name);
  if (inputs != run.results.failing_inputs.end()) json["inputs"] = inputs->second;
  return json;
}

nlohmann::json report_json(run_report const& run, comparisons const& results)
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
      entry["max_abs_error"] = to_number(result.max_abs_error);
      entry["max_ulp"] = optional_number(result.max_ulp());
      entry["tolerance_ulp"] = optional_number(result.tolerance_ulp);
    }
    if (result.failures != 0) entry["first_failure"] = first_failure_to_json(run, name, result);
    if (result.worst) entry["worst"] = worst_to_json(*result.worst);
    if (auto const ulp = accepting_ulp(result)) entry["accepting_ulp"] = *ulp;
    json.push_back(std::move(entry));
  }
  return json;
}

// Devices and modes.

nlohmann::json report_json(device_run const& device)
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

nlohmann::json link_to_json(run_report const& run, linked_image const& image)
{
  nlohmann::json json{
      {"target", image.target.name()},   {"kind", to_string(image.kind)},
      {"cache", to_string(image.cache)}, {"inlined", image.inlined()},
      {"link_ms", image.link_ms},        {"start_ms", describe_start(image, run.read_ms)}};
  if (run.resources) json["resources"] = describe_resources(resources(image));
  return json;
}

nlohmann::json row_to_json(run_report const& run, device_run const& device, std::size_t index)
{
  auto const& mode = device.modes[index];
  nlohmann::json json{{"device", device.device}, {"elements", device.part.count},
                      {"load_ms", mode.load_ms}, {"launch_ms", mode.launch_ms},
                      {"run_ms", mode.run_ms},   {"verified", nullptr}};
  if (auto const& verified = device.verified[index]) json["verified"] = *verified;
  json.update(
      throughput(run, device.part.count, mode.run_ms, device.info->kind == device_kind::gpu));
  return json;
}

nlohmann::json mode_to_json(run_report const& run, std::size_t index)
{
  auto const total = total_of(run, index);
  nlohmann::json json{{"mode", to_string(run.modes[index])},
                      {"verified", nullptr},
                      {"inlined", true},
                      {"links", nlohmann::json::array()},
                      {"devices", nlohmann::json::array()},
                      {"total",
                       {{"devices", total.devices},
                        {"elements", total.rows},
                        {"run_ms", total.run_ms},
                        {"span_ms", total.span_ms}}},
                      {"reference", nlohmann::json::array()},
                      {"expected", nlohmann::json::array()}};
  json["total"].update(throughput(run, total.rows, total.run_ms, total.is_of_gpus));
  for (auto const& image : run.images[index]) {
    json["inlined"] = json["inlined"].get<bool>() && image->inlined();
    json["links"].push_back(link_to_json(run, *image));
  }
  for (auto const& device : run.devices)
    if (!device.modes.empty()) json["devices"].push_back(row_to_json(run, device, index));
  if (run.results.modes.size() <= index) return json;
  auto const& compared = run.results.modes[index];
  if (auto const verified = is_verified(compared)) json["verified"] = *verified;
  json["reference"] = report_json(run, compared.references);
  for (auto& entry : json["reference"])
    if (entry["verified"] == false)
      entry["formulas"] = formulas_to_json(stated_hooks(run, entry["output"]));
  json["expected"] = report_json(run, compared.expectations);
  return json;
}

void print_row(run_report const& run, device_run const& device, std::size_t index)
{
  if (device.failure) {
    fmt::print("    {:<10} {}: {}\n", device.device, colored(meaning::bad, "FAILED"),
               report_of(device.failure).message);
    return;
  }
  auto const& mode = device.modes[index];
  auto const& verified = device.verified[index];
  fmt::print("    {:<10} {:>13} elements {:>10.4f} ms{}; loaded in {:.1f} ms; {}\n", device.device,
             with_commas(device.part.count), mode.run_ms,
             rate_text(run, device.part.count, mode.run_ms, device.info->kind == device_kind::gpu),
             mode.load_ms, verdict_text(verified));
}

/// The link of one device, and its launches.
void print_single(run_report const& run, std::size_t index)
{
  auto const& mode = run.devices.front().modes[index];
  auto const is_gpu = run.devices.front().info->kind == device_kind::gpu;
  fmt::print("[{}] {}: {:.1f} ms{}; launches {:.4f} ms{}\n", index + 1, title_of(mode.image.mode),
             link_time(mode.image, mode.load_ms), describe_link(mode.image), mode.run_ms,
             is_gpu ? rate_text(run, run.rows.value_or(0), mode.run_ms, true) : "");
  if (run.resources) print_resources(describe_resources(resources(mode.image)), "  ");
}

/// The links of several devices, and their launches.
void print_several(run_report const& run, std::size_t index)
{
  auto const total = total_of(run, index);
  auto const links = run.images[index].size();
  fmt::print("[{}] {}: {} link{}, {} load{}\n", index + 1, title_of(run.modes[index]), links,
             links == 1 ? "" : "s", total.devices, total.devices == 1 ? "" : "s");
  for (auto const& image : run.images[index]) {
    fmt::print("    {} for {} in {:.1f} ms{}\n", to_string(image->kind), image->target.name(),
               link_time(*image, 0), describe_link(*image));
    if (run.resources) print_resources(describe_resources(resources(*image)), "    ");
  }
  for (auto const& device : run.devices) print_row(run, device, index);
  fmt::print(
      "    {:<10} {:>13} elements {:>10.4f} ms{}; {:.4f} ms from the first start to the last end\n",
      "total", with_commas(total.rows), total.run_ms,
      rate_text(run, total.rows, total.run_ms, total.is_of_gpus), total.span_ms);
}

void print_mode(run_report const& run, std::size_t index)
{
  if (run.devices.size() == 1)
    print_single(run, index);
  else
    print_several(run, index);
  if (run.results.modes.size() <= index) return;
  print_references(run, index);
  print_comparisons(run, "--expect", run.results.modes[index].expectations);
}

void print_devices(run_report const& run)
{
  if (run.devices.size() == 1) {
    fmt::print("Device: {}\n", describe_device(*run.devices.front().info, run.no_gpu_reason));
    return;
  }
  for (auto const& device : run.devices)
    fmt::print("Device {}: {}, {}\n", device.device,
               device.info ? describe_device(*device.info, {}) : "not opened",
               device.part.count == 0
                   ? "no elements"
                   : fmt::format("elements {} to {}", with_commas(device.part.first),
                                 with_commas(device.part.first + device.part.count - 1)));
}

void print_subject(run_report const& run)
{
  auto const& kernel = run.plan.launches.front().kernel;
  auto const transforms = transforms_of(run);
  fmt::print("Library {}{}{}: {}\n", library_of(run),
             run.is_implied && kernel != k_default_kernel ? ", kernel " + kernel : "",
             transforms.empty() ? "" : ", transform " + transforms, run.plan.summary);
  for (auto const& [name, size] : run.sizes) {
    auto const count = static_cast<std::size_t>(std::max<std::int64_t>(size, 0));
    fmt::print("  {:<12} {}\n", name, with_commas(count));
  }
}

void print_first_rows(run_report const& run)
{
  for (auto const& row : run.first_rows) {
    fmt::print("  {}[{}]", row["output"], row["index"]);
    for (auto const& [name, value] : row["inputs"].items()) fmt::print("  {} {}", name, value);
    for (auto const* const key : {"ptx", "lto", "sass", "expected"})
      if (row.contains(key)) fmt::print("  {} {}", key, row[key]);
    fmt::print("\n");
  }
}

/// Whether results were compared with other things than each other.
bool is_checked(run_report const& run)
{
  return is_compared(run.against_cpu) ||
         std::ranges::any_of(run.results.modes, [](mode_comparisons const& mode) {
           return is_compared(mode.references) || is_compared(mode.expectations);
         });
}

/// Why outputs have no reference: one line for all modes that have the same reason.
void print_unverified(run_report const& run)
{
  std::vector<std::pair<std::string, std::string>> printed;
  for (auto const& mode : run.results.modes)
    for (auto const& reference : mode.references) {
      auto const line = std::pair(reference.first, reference.second.reason);
      if (line.second.empty() || std::ranges::find(printed, line) != printed.end()) continue;
      printed.push_back(line);
      print_comparisons(run, "reference", {reference});
    }
}

/// The results of two modes, for outputs that are not compared within a stated bound.
void print_agreement(run_report const& run)
{
  comparisons others;
  for (auto const& [name, result] : run.results.between)
    if (!result.reason.empty() || result.failures != 0 ||
        result.method.starts_with(k_without_bound))
      others.emplace(name, result);
  print_comparisons(run, "both modes", others);
}

using output_names = std::set<std::string>;

bool has_failures(output_verification const& result)
{
  return result.failures != 0;
}

/// Whether a result is within a bound that a reference or plan states.
bool is_within_bound(output_verification const& result)
{
  return result.reason.empty() && result.failures == 0 && result.unbounded == 0 &&
         !result.method.starts_with(k_without_bound);
}

void add_names(output_names& names, comparisons const& results,
               bool (*accepts)(output_verification const&))
{
  for (auto const& [name, result] : results)
    if (accepts(result)) names.insert(name);
}

output_names wrong_outputs(run_report const& run)
{
  output_names wrong;
  for (auto const& mode : run.results.modes) {
    add_names(wrong, mode.references, has_failures);
    add_names(wrong, mode.expectations, has_failures);
  }
  add_names(wrong, run.against_cpu, has_failures);
  add_names(wrong, run.results.between, has_failures);
  return wrong;
}

/// The outputs that are verified in every mode.
output_names verified_outputs(run_report const& run)
{
  std::map<std::string, std::size_t> modes;
  for (auto const& mode : run.results.modes) {
    output_names names;
    add_names(names, mode.references, is_within_bound);
    add_names(names, mode.expectations, is_within_bound);
    for (auto const& name : names) ++modes[name];
  }
  output_names verified;
  for (auto const& [name, count] : modes)
    if (count == run.results.modes.size()) verified.insert(name);
  return verified;
}

/// "both modes, --expect and the reference device agree": what was compared without a reference.
std::string agreement_text(run_report const& run)
{
  std::vector<std::string> compared;
  if (is_compared(run.results.between)) compared.emplace_back("both modes");
  if (std::ranges::any_of(run.results.modes,
                          [](auto const& mode) { return is_compared(mode.expectations); }))
    compared.emplace_back("--expect");
  if (is_compared(run.against_cpu)) compared.emplace_back("the reference device");
  if (compared.empty()) return "nothing was verified";
  if (compared.size() == 1 && compared.front() == "both modes")
    return "both modes agree; nothing else was checked";
  auto const last = compared.back();
  compared.pop_back();
  return compared.empty() ? fmt::format("agrees with {}", last)
                          : fmt::format("{} and {} agree", fmt::join(compared, ", "), last);
}

/// What was found out about the outputs: "verified in both modes".
std::string result_text(run_report const& run)
{
  if (auto const wrong = wrong_outputs(run); !wrong.empty())
    return fmt::format("{} ({})", verdict_text(false), fmt::join(wrong, ", "));
  auto const verified = verified_outputs(run);
  if (verified.empty()) return agreement_text(run);
  output_names others;
  for (auto const& argument : run.plan.arguments)
    if (argument.role == argument_role::output && !verified.contains(argument.name))
      others.insert(argument.name);
  if (!others.empty())
    return fmt::format("{} ({}); {} ({})", verdict_text(true), fmt::join(verified, ", "),
                       verdict_text({}), fmt::join(others, ", "));
  return verdict_text(true) + (run.results.modes.size() > 1 ? " in both modes" : "");
}

/// The last line.
void print_result(run_report const& run)
{
  std::vector<std::string> failed;
  for (auto const& device : run.devices)
    if (device.failure && device.part.count != 0) failed.push_back(device.device);
  fmt::print("Result: {}", result_text(run));
  if (!failed.empty())
    fmt::print("; {}: no results of {}", colored(meaning::bad, "incomplete"),
               fmt::join(failed, ", "));
  fmt::print("\n");
}

/// Whether an output is not verified because no sidecar states what a hook computes.
bool lacks_sidecar(run_report const& run)
{
  return std::ranges::any_of(run.results.modes, [](mode_comparisons const& mode) {
    return std::ranges::any_of(mode.references,
                               [](auto const& entry) { return entry.second.lacks_hook; });
  });
}

/// What to write beside the only transform where it has no sidecar, so that its results are
/// verified.
void print_sidecar_form(run_report const& run)
{
  if (is_checked(run) || run.files.size() != 2 || !lacks_sidecar(run)) return;
  auto const file = std::filesystem::path(run.files.back()).replace_extension(".json");
  if (std::error_code ignored; std::filesystem::exists(file, ignored)) return;
  auto const form = sidecar_form(run.plan, run.filled_hooks, file.stem().string());
  if (form.empty()) return;
  fmt::print("To verify the results, state what the transform computes in {}, for example:\n{}\n",
             file.string(), form);
  if (form.find("\"element\"") != form.npos)
    fmt::print("Replace the fields in \"element\" by those of the struct.\n");
}

}  // namespace

char const* name_of(link_mode mode)
{
  switch (mode) {
    case link_mode::lto:
      return "LTO link";
    case link_mode::sass:
      return "SASS link";
    case link_mode::ptx:
      break;
  }
  return "PTX link";
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

std::optional<bool> is_verified(mode_comparisons const& mode)
{
  if (has_failed(mode.references) || has_failed(mode.expectations)) return false;
  if (is_compared(mode.references) || is_compared(mode.expectations)) return true;
  return std::nullopt;
}

bool run_report::verified() const
{
  if (has_failed(results.between) || has_failed(against_cpu)) return false;
  return std::ranges::none_of(results.modes, [](mode_comparisons const& mode) {
    return is_verified(mode) == std::optional(false);
  });
}

bool run_report::is_complete() const
{
  return std::ranges::none_of(devices, [](device_run const& device) {
    return device.failure != nullptr && device.part.count != 0;
  });
}

int run_report::status() const
{
  auto status = static_cast<int>(verified() ? k_done : k_not_verified);
  for (auto const& device : devices)
    if (device.failure) status = std::max(status, report_of(device.failure).status);
  return status;
}

nlohmann::json report_json(run_report const& run)
{
  nlohmann::json json{{"library", library_of(run)},
                      {"transform", transforms_of(run)},
                      {"files", run.files},
                      {"plan", run.plan.name},
                      {"is_implied", run.is_implied},
                      {"kernels", run.plan.kernels()},
                      {"filled_hooks", run.filled_hooks},
                      {"sizes", run.sizes},
                      {"elements", nullptr},
                      {"devices", nlohmann::json::array()},
                      {"no_gpu_reason", nullptr},
                      {"device_ms", run.device_ms},
                      {"verify_ms", run.verify_ms},
                      {"modes", nlohmann::json::array()},
                      {"between", report_json(run, run.results.between)},
                      {"reference_device", report_json(run, run.against_cpu)},
                      {"results", run.first_rows},
                      {"compiles", compiles_to_json(run.compiles)},
                      {"warnings", run.warnings}};
  if (run.rows) json["elements"] = *run.rows;
  if (!run.no_gpu_reason.empty()) json["no_gpu_reason"] = run.no_gpu_reason;
  for (auto const& device : run.devices) json["devices"].push_back(report_json(device));
  for (std::size_t i = 0; i < run.modes.size(); ++i) json["modes"].push_back(mode_to_json(run, i));
  return json;
}

void print_text(run_report const& run)
{
  print_devices(run);
  print_subject(run);
  print_compiles(run.compiles);
  for (std::size_t i = 0; i < run.modes.size(); ++i) print_mode(run, i);
  print_unverified(run);
  print_comparisons(run, "cpu", run.against_cpu);
  print_agreement(run);
  print_first_rows(run);
  print_sidecar_form(run);
  print_result(run);
}

void print_failures(run_report const& run)
{
  for (auto const& device : run.devices)
    if (device.failure) print_device_failure(device.device, device.failure);
}

}  // namespace fatlink::cli
