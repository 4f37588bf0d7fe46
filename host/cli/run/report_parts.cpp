// SPDX-License-Identifier: Apache-2.0
#include "run/report_parts.hpp"

#include <fmt/format.h>

#include <cmath>

namespace fatlink::cli {

nlohmann::json to_number(double value)
{
  if (std::isfinite(value)) return value;
  return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";  // JSON has no such numbers
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

std::string describe_device(device_info const& device, std::string const& no_gpu_reason)
{
  auto text = fmt::format("{} ({})", device.name, device.target.name());
  if (no_gpu_reason.empty()) return text;
  return text +
         fmt::format(", as there is no GPU ({})", no_gpu_reason.substr(0, no_gpu_reason.find(':')));
}

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

std::string title_of(link_mode mode)
{
  auto const* const note = mode == link_mode::lto    ? "link-time optimised"
                           : mode == link_mode::sass ? "no compiler"
                                                     : "no LTO";
  return fmt::format("{} ({})", name_of(mode), note);
}

double link_time(linked_image const& image, double load_ms)
{
  if (image.cache == cache_outcome::hit) return image.times.lookup_ms;
  return image.link_ms + (image.kind == image_kind::ptx_set ? load_ms : 0);
}

std::string describe_link(linked_image const& image)
{
  std::string text;
  for (auto const& hook : image.hooks)
    if (hook.is_default)
      text += fmt::format(", {} default", hook.name);
    else if (image.mode == link_mode::lto)
      text += fmt::format(", {} {}", hook.name, hook.inlined ? "inlined" : "NOT INLINED");
  return text + (image.cache == cache_outcome::hit ? ", from the cache" : "");
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

void print_compiles(compile_report const& compiles)
{
  for (auto const& source : compiles.sources)
    if (source.cache == cache_outcome::hit)
      fmt::print("Compiled {} with {}, from the cache\n", source.file.string(), source.producer);
    else
      fmt::print("Compiled {} with {} in {:.1f} ms\n", source.file.string(), source.producer,
                 source.ms);
}

}  // namespace fatlink::cli
