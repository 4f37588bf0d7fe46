// SPDX-License-Identifier: Apache-2.0
#include "link_flags.hpp"

#include <algorithm>

#include "fatlink/source.hpp"
#include "installed.hpp"
#include "options.hpp"

namespace fatlink::cli {
namespace {

void add_fast_compile(CLI::App& verb, fast_compile& level)
{
  auto const store = [&level](std::string const& text) {
    for (auto const candidate : {fast_compile::min, fast_compile::mid, fast_compile::max})
      if (text == to_string(candidate)) level = candidate;
  };
  add_choice(verb, "--fast-compile", store, {"min", "mid", "max"},
             "link faster but generate slower code; max leaves hooks as calls, with a warning");
}

void add_symbol_flags(CLI::App& verb, link_options& options)
{
  add_texts(verb, "--keep-variable", options.variables, "VARIABLE",
            "lto: keep this variable for the host; all others may be removed and their initial "
            "values used as constants");
  verb.add_flag(
      "--drop-unused-variables", options.drop_unused_variables,
      "lto: remove variables that no kernel writes; this includes variables that the host sets");
}

void add_code_flags(CLI::App& verb, link_options& options)
{
  add_count(verb, "--max-registers", options.max_registers, {k_least_registers, k_most_registers},
            "maximum registers per thread, 24 to 255; further values are spilled to local memory "
            "(cubins only)");
  auto const store = [&options](std::string const& text) {
    options.optimization = text == "3" ? 3 : 0;
  };
  add_choice(verb, "-O,--optimize", store, {"0", "3"},
             "optimization level; 0 leaves hooks as calls, 3 is nvJitLink's default");
  add_fast_compile(verb, options.fast_compile);
  verb.add_flag("--line-info", options.line_info,
                "add source lines for profilers; inputs without -lineinfo get lines of their PTX "
                "(cubins only)");
  verb.add_flag("--debug", options.debug,
                "generate code for debuggers, not optimized by ptxas; variables are visible only "
                "for inputs compiled with -G (cubins only)");
  verb.add_flag("--stack-protector", options.stack_protector,
                "trap if a function that is not inlined writes past its arrays; cubins only");
  verb.add_flag("--latest-nvvm", options.latest_nvvm,
                "lto: use the newest compiler of nvJitLink; requires nvJitLink 13.5");
}

}  // namespace

void add_float_flags(CLI::App& verb, link_options& options)
{
  group_scope const scope(verb, k_link_group);
  add_switch(verb, "--ftz", options.ftz,
             "lto: flush denormal numbers to zero; this and the next four options override the "
             "flags recorded in the inputs; sources are compiled with them");
  add_switch(verb, "--prec-div", options.prec_div, "lto: correctly rounded division");
  add_switch(verb, "--prec-sqrt", options.prec_sqrt,
             "lto: correctly rounded square root; no effect on sqrtf as nvcc compiles it");
  add_switch(verb, "--fma", options.fma, "lto: fuse multiplication and addition");
  auto const set_all = [&options] {
    options.ftz = options.fma = true;
    options.prec_div = options.prec_sqrt = false;
  };
  verb.add_flag_callback("--use-fast-math", set_all,
                         "lto: same as --ftz 1 --prec-div 0 --prec-sqrt 0 --fma 1");
  exclude_float_flags(verb);
}

void add_option_flags(CLI::App& verb, link_options& options)
{
  group_scope const scope(verb, k_link_group);
  add_symbol_flags(verb, options);
  add_code_flags(verb, options);
  add_float_flags(verb, options);
  add_count(verb, "--threads", options.threads, {1, k_most_threads},
            "threads of nvJitLink, 1 to 256; in lto mode, several threads may round differently "
            "from one");
  verb.add_flag_callback(
      "--no-driver-cache", [&options] { options.driver_cache = false; },
      "store no intermediate results in the CUDA driver's cache; the cache of fatlink is not "
      "affected");
  add_texts(verb, "--ptxas", options.ptxas, "OPTION",
            "pass one option to ptxas: --ptxas=-dlcm=cg; only options that affect just the code "
            "and messages are accepted, and the error lists them (cubins only)");
  add_texts(
      verb, "--nvvm", options.nvvm, "OPTION",
      "lto: pass one option to libNVVM: --nvvm=-jump-table-density=10; restricted as for --ptxas");
}

void add_kernels(CLI::App& verb, std::vector<std::string>& kernels, std::string const& help)
{
  add_texts(verb, "--kernel", kernels, "KERNEL", help);
}

fatlink::linker link_flags::linker() const
{
  return fatlink::linker({.isolation = in_process ? isolation::in_process : isolation::helper,
                          .time_limit = to_milliseconds(limit_s),
                          .cache = cache_unless(no_cache),
                          .allow_unconfined = allow_unconfined,
                          .offline = offline});
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
  flags.options.line_info = options.line_info;
  flags.no_cache = no_cache;
  flags.allow_unconfined = allow_unconfined;
  flags.offline = offline;
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
  verb.add_flag("--in-process", flags.in_process,
                "run nvJitLink in this process instead of fatlink-linkd; a damaged input may crash "
                "the process");
  verb.add_flag("--no-cache", flags.no_cache, "do not read or write the cache");
  add_common_link_flags(verb, flags);
  for (auto const* option :
       {"--allow-unconfined", "--link-timeout"})  // they affect only the helper
    verb.get_option(option)->excludes("--in-process");
}

void add_link_offline(CLI::App& verb, link_flags& flags)
{
  group_scope const scope(verb, k_link_group);
  add_offline(verb, flags.offline);
}

void add_common_link_flags(CLI::App& verb, link_flags& flags)
{
  group_scope const scope(verb, k_link_group);
  verb.add_flag("--allow-unconfined", flags.allow_unconfined,
                "link without the sandbox if the kernel refuses it; fatlink-linkd then runs "
                "without seccomp, with a warning");
  add_seconds(verb, "--link-timeout", flags.limit_s, 0.01, 600,
              "time limit for one link in fatlink-linkd, 0.01 to 600");
  verb.add_flag("--require-inlined", flags.require_inlined,
                "fail if a hook is not inlined in lto mode; refused with --mode ptx or sass");
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
                "also link inputs that lack LTO-IR (lto mode) or PTX (ptx mode); calls to their "
                "functions are not inlined");
  verb.add_flag("--whole-archive", whole_archive,
                "link all archive members, not only those that define missing symbols");
}

}  // namespace fatlink::cli
