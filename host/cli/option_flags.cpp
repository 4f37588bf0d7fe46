// SPDX-License-Identifier: Apache-2.0
#include "option_flags.hpp"

#include "options.hpp"

namespace fatlink::cli {
namespace {

void add_number(CLI::App& verb, std::string const& name, std::optional<unsigned>& value,
                count_range range, std::string const& help)
{
  auto const store = [&value, name, range](std::string const& text) {
    value = static_cast<unsigned>(parse_count(name, text, range));
  };
  verb.add_option_function<std::string>(name, store, help)->type_name("N");
}

void add_switch(CLI::App& verb, std::string const& name, std::optional<bool>& value,
                std::string const& help)
{
  auto const store = [&value](std::string const& text) { value = text == "1"; };
  add_choice(verb, name, store, {"0", "1"}, help);
}

void add_fast_compile(CLI::App& verb, fast_compile& level)
{
  auto const store = [&level](std::string const& text) {
    for (auto const candidate : {fast_compile::min, fast_compile::mid, fast_compile::max})
      if (text == to_string(candidate)) level = candidate;
  };
  add_choice(verb, "--fast-compile", store, {"min", "mid", "max"},
             "shorten the link at the cost of the code; max leaves hooks as calls, with a warning");
}

void add_symbol_flags(CLI::App& verb, link_options& options)
{
  add_texts(verb, "--keep-variable", options.variables, "VARIABLE",
            "lto: keep this variable for the host; all others may be dropped, and their initial "
            "values become constants");
  verb.add_flag("--drop-unused-variables", options.drop_unused_variables,
                "lto: drop variables that no kernel writes, also those that the host would set");
}

void add_code_flags(CLI::App& verb, link_options& options)
{
  add_number(
      verb, "--max-registers", options.max_registers, {k_least_registers, k_most_registers},
      "registers of a thread at most, 24 to 255; others are spilled to local memory (cubins)");
  auto const store = [&options](std::string const& text) {
    options.optimization = text == "3" ? 3 : 0;
  };
  add_choice(verb, "-O,--optimize", store, {"0", "3"},
             "optimization; 0 leaves hooks as calls, 3 is nvJitLink's default");
  add_fast_compile(verb, options.fast_compile);
  verb.add_flag(
      "--line-info", options.line_info,
      "add source lines for profilers; lines of PTX for inputs without -lineinfo (cubins)");
  verb.add_flag(
      "--debug", options.debug,
      "code for debuggers: not optimized by ptxas; variables only of inputs with -G (cubins)");
  verb.add_flag("--stack-protector", options.stack_protector,
                "functions that stay calls trap after a write past their arrays (cubins)");
  verb.add_flag("--latest-nvvm", options.latest_nvvm,
                "lto: compile with the newest compiler of nvJitLink, from 13.5 on");
}

}  // namespace

void add_float_flags(CLI::App& verb, link_options& options)
{
  group_scope const scope(verb, k_link_group);
  add_switch(
      verb, "--ftz", options.ftz,
      "lto: flush denormal numbers to zero; this and the following options override what the "
      "inputs record, and say how sources are compiled");
  add_switch(verb, "--prec-div", options.prec_div, "lto: divisions round correctly");
  add_switch(verb, "--prec-sqrt", options.prec_sqrt,
             "lto: square roots round correctly; no effect on sqrtf as nvcc compiles it");
  add_switch(verb, "--fma", options.fma, "lto: contract multiplication and addition");
  auto const set_all = [&options] {
    options.ftz = true;
    options.prec_div = false;
    options.prec_sqrt = false;
    options.fma = true;
  };
  auto* fast = verb.add_flag_callback("--use-fast-math", set_all,
                                      "lto: --ftz 1 --prec-div 0 --prec-sqrt 0 --fma 1");
  for (auto const* name : {"--ftz", "--prec-div", "--prec-sqrt", "--fma"})
    verb.get_option(name)->excludes(fast);
}

void add_option_flags(CLI::App& verb, link_options& options)
{
  group_scope const scope(verb, k_link_group);
  add_symbol_flags(verb, options);
  add_code_flags(verb, options);
  add_float_flags(verb, options);
  add_number(verb, "--threads", options.threads, {1, k_most_threads},
             "threads of nvJitLink, 1 to 256; in lto mode several may round differently from one");
  verb.add_flag_callback(
      "--no-driver-cache", [&options] { options.driver_cache = false; },
      "keep no intermediate results in the driver's cache, which is not the cache of fatlink");
  add_texts(verb, "--ptxas", options.ptxas, "OPTION",
            "pass one option to ptxas: --ptxas=-dlcm=cg; one that changes "
            "more than code and messages is refused with a list (cubins)");
  add_texts(verb, "--nvvm", options.nvvm, "OPTION",
            "lto: pass one option to libNVVM: --nvvm=-jump-table-density=10; as for --ptxas");
}

void add_kernels(CLI::App& verb, std::vector<std::string>& kernels, std::string const& help)
{
  add_texts(verb, "--kernel", kernels, "KERNEL", help);
}

}  // namespace fatlink::cli
