// SPDX-License-Identifier: Apache-2.0
#include "use_options.hpp"

#include <string_view>

namespace fatlink::cli {
namespace {

struct option_name {
  std::string_view api;
  std::string_view option;
};

/// A longer API name comes before one that is a part of it.
constexpr option_name k_option_names[] = {
    {"linker_settings::allow_unconfined", "--allow-unconfined"},
    {"linker_settings::time_limit", "--link-timeout SECONDS"},
    {"linker_settings::isolation", "--in-process"},
    {"isolation::in_process", "--in-process"},
    {"link_options::require_inlined", "--require-inlined"},
    {"link_options::kernel", "--kernel"},
    {"link_options::emit", "--emit"},
    {"link_options::mode", "--mode"},
    {"link_mode::ptx", "--mode ptx"},
    {"link_mode::lto", "--mode lto"},
    {"image_kind::cubin", "--emit cubin"},
    {"image_kind::ptx", "--emit ptx"},
    {"cpu_options::instruction_budget", "--instruction-budget"},
    {"cpu_options::check_races", "--check-races"},
    {" (FATLINK_CACHE_DIR, cache_settings::folder)", " (FATLINK_CACHE_DIR)"},
    {"pass it as the elements of a run", "pass it with --input"},
};

void replace_all(std::string& text, std::string_view name, std::string_view option)
{
  for (std::size_t position = 0; (position = text.find(name, position)) != std::string::npos;
       position += option.size())
    text.replace(position, name.size(), option);
}

}  // namespace

std::string use_options(std::string hint)
{
  for (auto const& [api, option] : k_option_names) {
    replace_all(hint, "fatlink::" + std::string(api), option);
    replace_all(hint, api, option);
  }
  return hint;
}

}  // namespace fatlink::cli
