// SPDX-License-Identifier: Apache-2.0
#include "link_flags.hpp"

#include "installed.hpp"
#include "options.hpp"

namespace fatlink::cli {

fatlink::linker link_settings::linker() const
{
  return fatlink::linker(
      {.isolation = in_process ? isolation::in_process : isolation::helper,
       .time_limit = std::chrono::milliseconds(static_cast<long>(limit_s * 1000)),
       .cache = no_cache ? nullptr : std::make_shared<link_cache>(default_cache_settings()),
       .allow_unconfined = allow_unconfined});
}

void add_link_settings(CLI::App& verb, link_settings& to)
{
  verb.add_flag(
      "--in-process", to.in_process,
      "run nvJitLink in this process, not in fatlink-linkd: a damaged input may crash it");
  verb.add_flag(
      "--allow-unconfined", to.allow_unconfined,
      "link although the kernel refuses fatlink-linkd's sandbox (seccomp), with a warning");
  add_seconds(verb, "--link-timeout", to.limit_s, 0.01, 600,
              "how long a link may take in fatlink-linkd, 0.01 to 600");
  for (auto const* option : {"--allow-unconfined", "--link-timeout"})  // the helper's alone
    verb.get_option(option)->excludes("--in-process");
  verb.add_flag("--no-cache", to.no_cache,
                "link anew; neither take the link from the cache nor put it there");
  verb.add_flag("--require-inlined", to.require_inlined,
                "a hook that the LTO link left as a call is an error");
}

}  // namespace fatlink::cli
