// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fatlink::cli {
namespace {

nlohmann::json number(double value)
{
  if (std::isfinite(value)) return value;
  return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";  // JSON has no such numbers
}

nlohmann::json to_json(extent const& size)
{
  return {size.x, size.y, size.z};
}

nlohmann::json first_failure(verification const& seen)
{
  return {{"index", seen.first_failure},
          {"input", number(static_cast<double>(seen.first_input))},
          {"actual", number(static_cast<double>(seen.first_actual))},
          {"expected", number(seen.first_expected)},
          {"failures", seen.failures}};
}

}  // namespace

nlohmann::json start_of(linked_image const& image, double read_ms)
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

nlohmann::json mode_to_json(linked_image const& image, execution const& done, double read_ms,
                            bool has_reference)
{
  auto const& seen = done.against_reference;
  nlohmann::json json{{"mode", to_string(image.mode)},
                      {"verified", nullptr},
                      {"max_ulp", nullptr},
                      {"max_abs_error", nullptr},
                      {"inlined", image.inlined()},
                      {"cache", to_string(image.cache)},
                      {"link_ms", image.link_ms},
                      {"load_ms", done.load_ms},
                      {"run_ms", done.run_ms}};
  json["start_ms"] = start_of(image, read_ms);
  json["start_ms"]["load"] = done.load_ms;
  json["start_ms"]["launch"] = done.launch_ms;
  if (!has_reference) return json;
  json["verified"] = seen.verified();
  json["max_ulp"] = number(seen.max_ulp);
  json["max_abs_error"] = number(seen.max_abs_error);
  if (seen.failures != 0) json["first_failure"] = first_failure(seen);
  return json;
}

std::string verdict(verification const& seen, bool has_reference)
{
  if (!has_reference) return "not verified: the transform has no .json";
  return fmt::format("{}, max {:.3g} ulp", seen.verified() ? "verified" : "WRONG", seen.max_ulp);
}

std::string inlining(linked_image const& image)
{
  std::string text;
  if (image.mode == link_mode::lto)
    for (auto const& hook : image.hooks)
      text += fmt::format(", {} {}", hook.name, hook.inlined ? "inlined" : "NOT INLINED");
  return text;
}

void print_failure(char const* title, verification const& seen)
{
  if (seen.failures == 0) return;
  fmt::print(
      "{}: {} of {} elements are wrong; the first is element {}: f({:.9g}) gave {:.9g}, expected "
      "{:.9g}\n",
      title, seen.failures, seen.elements, seen.first_failure, seen.first_input, seen.first_actual,
      seen.first_expected);
}

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

char const* title_of(link_mode mode)
{
  return mode == link_mode::ptx ? "PTX link (no LTO)" : "LTO link (link-time optimised)";
}

}  // namespace

bool run_summary::verified() const
{
  auto const right = [&](execution const& done) { return done.against_reference.verified(); };
  if (expected && !std::all_of(results.images.begin(), results.images.end(), right)) return false;
  return !results.between || results.between->verified();
}

nlohmann::json to_json(run_summary const& run)
{
  auto json = nlohmann::json{{"device",
                              {{"kind", to_string(run.device.kind)},
                               {"name", run.device.name},
                               {"target", run.device.target.name()}}},
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
                             {"agree", nullptr}};
  if (!run.why_no_gpu.empty()) json["device"]["why_no_gpu"] = run.why_no_gpu;
  for (std::size_t i = 0; i < run.images.size(); ++i)
    json["modes"].push_back(
        mode_to_json(run.images[i], run.results.images[i], run.read_ms, run.expected.has_value()));
  if (!run.results.between) return json;
  json["agree"] = run.results.between->verified();
  if (!run.results.between->verified())
    json["first_disagreement"] = first_failure(*run.results.between);
  return json;
}

void print_text(run_summary const& run)
{
  fmt::print("Device: {} ({}){}\n", run.device.name, run.device.target.name(),
             run.why_no_gpu.empty()
                 ? ""
                 : fmt::format(", as there is no GPU ({})",
                               run.why_no_gpu.substr(0, run.why_no_gpu.find(':'))));
  fmt::print("Library {}, transform {}, {} elements\n", run.library, run.transform,
             with_commas(run.elements));
  for (std::size_t i = 0; i < run.images.size(); ++i) {
    auto const& seen = run.results.images[i].against_reference;
    // The reference device links a set of PTX as it loads it.
    auto const is_set = run.images[i].kind == image_kind::ptx_set;
    auto const ms = run.images[i].link_ms + (is_set ? run.results.images[i].load_ms : 0);
    auto const from_cache = run.images[i].cache == cache_outcome::hit;
    fmt::print("[{}] {:<32} {:>6.1f} ms   {}{}{}\n", i + 1, title_of(run.images[i].mode),
               from_cache ? run.images[i].times.lookup_ms : ms,
               verdict(seen, run.expected.has_value()), inlining(run.images[i]),
               from_cache ? ", from the cache" : "");
    print_failure(to_string(run.images[i].mode), seen);
  }
  if (!run.results.between) return;
  if (run.results.between->verified())
    fmt::print("Both modes agree.{}\n", run.expected ? "" : " That is all that was checked.");
  else
    print_failure("The modes disagree (expected is ptx, gave is lto)", *run.results.between);
}

}  // namespace fatlink::cli
