// SPDX-License-Identifier: Apache-2.0
#include "link_flags.hpp"

#include <algorithm>

#include "fatlink/source.hpp"
#include "installed.hpp"
#include "option_flags.hpp"
#include "options.hpp"

namespace fatlink::cli {

fatlink::linker link_flags::linker() const
{
  return fatlink::linker(
      {.isolation = in_process ? isolation::in_process : isolation::helper,
       .time_limit = std::chrono::milliseconds(static_cast<long>(limit_s * 1000)),
       .cache = no_cache ? nullptr : std::make_shared<link_cache>(default_cache_settings()),
       .allow_unconfined = allow_unconfined});
}

float_flags compile_float_flags(link_options const& options)
{
  float_flags const defaults;
  return {.ftz = options.ftz.value_or(defaults.ftz),
          .prec_div = options.prec_div.value_or(defaults.prec_div),
          .prec_sqrt = options.prec_sqrt.value_or(defaults.prec_sqrt),
          .fmad = options.fma.value_or(defaults.fmad)};
}

void complete_float_flags(link_options& options, link_mode mode)
{
  if (!options.ftz && !options.prec_div && !options.prec_sqrt && !options.fma) return;
  auto const flags = compile_float_flags(options);
  auto const state = [&](std::optional<bool>& option, bool value) {
    option = mode == link_mode::lto ? std::optional(value) : std::nullopt;
  };
  state(options.ftz, flags.ftz);
  state(options.prec_div, flags.prec_div);
  state(options.prec_sqrt, flags.prec_sqrt);
  state(options.fma, flags.fmad);
}

void link_flags::note_inputs(std::vector<std::string> const& names)
{
  has_sources = has_sources || std::ranges::any_of(names, [](std::string const& name) {
                  return is_source_name(name);
                });
}

compile_flags link_flags::source_flags() const
{
  auto flags = sources;
  flags.options.float_flags = compile_float_flags(options);
  flags.no_cache = no_cache;
  flags.allow_unconfined = allow_unconfined;
  return flags;
}

link_flags link_flags::for_mode(link_mode mode, std::vector<link_mode> const& modes) const
{
  auto flags = *this;
  if (modes.size() > 1 && mode != link_mode::lto) flags.require_inlined = false;
  return flags;
}

link_options link_flags::make_options(target target, link_mode mode, image_kind emit) const
{
  auto result = options;
  result.target = target;
  result.mode = mode;
  result.emit = emit;
  result.require_inlined = require_inlined;
  if (has_sources) complete_float_flags(result, mode);
  check_link_options(result);
  return result;
}

void add_link_flags(CLI::App& verb, link_flags& flags)
{
  group_scope const scope(verb, k_link_group);
  verb.add_flag(
      "--in-process", flags.in_process,
      "run nvJitLink in this process, where a damaged input may crash it, not in fatlink-linkd");
  verb.add_flag("--no-cache", flags.no_cache, "neither read the cache nor write to it");
  add_common_link_flags(verb, flags);
  for (auto const* option :
       {"--allow-unconfined", "--link-timeout"})  // they affect only the helper
    verb.get_option(option)->excludes("--in-process");
}

void add_common_link_flags(CLI::App& verb, link_flags& flags)
{
  group_scope const scope(verb, k_link_group);
  verb.add_flag(
      "--allow-unconfined", flags.allow_unconfined,
      "link even if the kernel refuses the sandbox of fatlink-linkd (seccomp), with a warning");
  add_seconds(verb, "--link-timeout", flags.limit_s, 0.01, 600,
              "time limit of a link in fatlink-linkd, 0.01 to 600");
  verb.add_flag("--require-inlined", flags.require_inlined,
                "fail if the lto link does not inline a hook; not with --mode ptx or sass");
  add_input_flags(verb, flags.options.allow_calls, flags.options.whole_archive);
  add_option_flags(verb, flags.options);
  add_source_flags(verb, flags.sources);
}

void add_mode(CLI::App& verb, std::string& mode)
{
  add_choice(verb, "--mode", mode, {"ptx", "lto", "both", "sass"},
             "link mode; both: ptx and lto; sass: cubins for exactly the target");
}

std::vector<link_mode> parse_modes(std::string const& text)
{
  if (text == "both") return {link_mode::ptx, link_mode::lto};
  return {parse_link_mode(text)};
}

void add_input_flags(CLI::App& verb, bool& allow_calls, bool& whole_archive)
{
  group_scope const scope(verb, k_link_group);
  verb.add_flag("--allow-calls", allow_calls,
                "also link inputs without LTO-IR (lto) or PTX (ptx) as they are, with real calls");
  verb.add_flag("--whole-archive", whole_archive,
                "link all members of archives, not only those that define what is missing");
}

}  // namespace fatlink::cli
