// SPDX-License-Identifier: Apache-2.0
#include "doctor/helper_check.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string_view>

#include "fatlink/error.hpp"
#include "fatlink/linker.hpp"
#include "link_helper/link_helper.hpp"

namespace fatlink::cli {
namespace {

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
    if (layer["name"] != "seccomp" || layer["on"].get<bool>()) continue;
    json["reason"] =
        "the kernel refuses its sandbox: seccomp: " + layer["detail"].get<std::string>();
    json["hint"] = k_seccomp_remedy;
  }
} catch (unavailable_error const& failure) {
  json["reason"] = failure.details().message;
  json["hint"] = failure.details().hint;
}

void print_layer(nlohmann::json const& layer)
{
  auto const detail = layer["detail"].get<std::string>();
  fmt::print("  {}: {}{}{}\n", layer["name"].get<std::string>(),
             layer["on"].get<bool>() ? "on" : "off", detail.empty() ? "" : ": ", detail);
}

}  // namespace

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

bool is_helper_usable(nlohmann::json const& helper)
{
  return helper.at("found").get<bool>() && !helper.contains("reason");
}

void print_link_helper(nlohmann::json const& helper)
{
  if (!helper["found"].get<bool>()) {
    fmt::print("Link helper: not found; {}; {}\n", helper["reason"].get<std::string>(),
               helper["hint"].get<std::string>());
    return;
  }
  fmt::print("Link helper: {}\n", helper["path"].get<std::string>());
  for (auto const& layer : helper["layers"]) print_layer(layer);
}

}  // namespace fatlink::cli
