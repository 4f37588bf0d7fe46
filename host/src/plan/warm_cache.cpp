// SPDX-License-Identifier: Apache-2.0
#include "plan/warm_cache.hpp"

#include "fatlink/error.hpp"
#include "fatlink/launch_plan.hpp"
#include "plan/check_plan.hpp"
#include "toolkit/nvjitlink.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_of_any_nvjitlink = "";  // of a shipped link

std::string identity_of_nvjitlink(linker const& tool)
{
  auto const& named = tool.settings().nvjitlink;
  if (!named.empty()) return nvjitlink_identity(named.string()).value_or("");
  auto const file = nvjitlink::locate();
  return file ? file->identity : "";
}

}  // namespace

link_options keep_plan_kernels(std::vector<input> const& inputs, link_options options)
{
  if (!options.kernels.empty() || inputs.empty()) return options;
  if (auto const plan = launch_plan::beside(inputs.front()))
    options.kernels = kernels_to_keep(*plan, inputs);
  return options;
}

void check_stored(linker const& tool, std::vector<input> const& inputs, link_options const& options)
{
  auto const& shared = tool.settings().cache;
  if (shared == nullptr)
    throw usage_error({.message = "the linker has no cache: nothing to fill",
                       .hint = "set <linker_settings::cache>, or write a layer"});
  link_cache cache(shared->settings());  // without the links in memory
  auto const stores = [&](std::string const& identity) {
    return cache.find(link_key(inputs, options, identity)) != nullptr;
  };
  if (stores(identity_of_nvjitlink(tool)) || stores(k_of_any_nvjitlink)) return;
  auto const folder = cache.settings().folder.string();
  throw file_error(
      stage::cache,
      {.message = detail::format("the cache {} did not store the {} link for {}", folder,
                                 to_string(options.mode), options.target.name()),
       .input = folder,
       .code = error_code::link_not_cached,
       .hint = "<link_cache::statistics> shows the cause; FATLINK_CACHE_LIMIT may be too small"});
}

}  // namespace fatlink::detail
