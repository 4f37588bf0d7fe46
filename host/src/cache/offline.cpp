// SPDX-License-Identifier: Apache-2.0
#include "cache/offline.hpp"

#include <utility>

#include "util/process/environment.hpp"
#include "util/text/format.hpp"

namespace fatlink::cache {
namespace {

constexpr char const* k_variable = "FATLINK_OFFLINE";

}  // namespace

bool is_offline(bool setting)
{
  auto const text = detail::environment(k_variable);
  if (!text.empty() && text != "0" && text != "1")
    throw usage_error(
        {.message =
             detail::format("{}: '{}' is neither 0 nor 1", k_variable, detail::printable(text)),
         .input = k_variable,
         .code = error_code::invalid_argument,
         .hint = "set it to 1 to permit only links and compiles of cache layers, or unset it"});
  return setting || text == "1";
}

std::string describe_miss(std::shared_ptr<link_cache> const& cache)
{
  if (!cache) return "no cache is used that could have";
  return cache->settings().layers.empty() ? "there is no cache layer that could have"
                                          : "no cache layer has";
}

std::string describe_layer(std::string const& command)
{
  if (!command.empty())
    return detail::format(
        "on a machine with nvJitLink, run {}; then set FATLINK_SYSTEM_CACHE=FOLDER", command);
  return "on a machine with nvJitLink and NVRTC, run fatlink cache record --layer FOLDER -- "
         "COMMAND, where COMMAND starts this program; then set FATLINK_SYSTEM_CACHE=FOLDER";
}

void refuse_offline(stage origin, std::string message, std::string input, std::string hint)
{
  throw unavailable_error(origin, {.message = "offline mode is on, and " + std::move(message),
                                   .input = std::move(input),
                                   .code = error_code::offline,
                                   .hint = std::move(hint)});
}

void refuse_layer_offline(stage origin, bool is_offline)
{
  if (!is_offline) return;
  refuse_offline(origin, "a cache layer is filled by links and compiles", k_variable,
                 "turn offline mode off to fill a layer");
}

}  // namespace fatlink::cache
