// SPDX-License-Identifier: Apache-2.0
#include "run/run_arguments.hpp"

#include "default_library.hpp"
#include "options.hpp"
#include "resources_report.hpp"

namespace fatlink::cli {
namespace {

constexpr std::size_t k_most_elements = std::size_t{1} << 40;
constexpr std::size_t k_most_printed = std::size_t{1} << 20;

void add_modules(CLI::App& verb, run_arguments& arguments)
{
  verb.add_option("--library", arguments.library,
                  "library: name, or file of any form (default: the installed library of the "
                  "transform's contract, or apply_transform)")
      ->type_name("LIBRARY");
  verb.add_option("--transform", arguments.transforms,
                  "transform: name, or file of any form (default: relu_poly); repeat it for "
                  "several transforms")
      ->type_name("TRANSFORM")
      ->allow_extra_args(false);
  verb.add_option("--watch", arguments.watched,
                  "a transform, source or other file: run again whenever a file that the run "
                  "reads changes: "
                  "it, its .json, the headers that it includes, the library")
      ->type_name("TRANSFORM");
  verb.add_option("--kernel", arguments.kernel,
                  "for a library without a launch plan: kernel to execute, with parameters (const "
                  "float*, float*, size_t) (default: "
                  "apply_transform, or the library's only kernel)")
      ->type_name("KERNEL");
  add_mode(verb, arguments.mode);
}

void add_device(CLI::App& verb, run_arguments& arguments)
{
  verb.add_option(
          "--device", arguments.device,
          "gpu, gpu:N, or cpu, the reference device, which links for sm_90; cpu:TARGET: for "
          "TARGET (default: gpu, or cpu without a GPU); several, which divide the elements: all "
          "(GPUs), gpu:0,1, cpu,cpu or 2xcpu")
      ->type_name("DEVICE")
      ->each(check_device);
  add_count(verb, "--instruction-budget", arguments.cpu.instruction_budget, {},
            "on cpu: maximum number of instructions of a warp; 0: no limit");
  verb.add_flag(
      "--check-races", arguments.cpu.check_races,
      "on cpu: fail if a thread accesses what another one writes, without synchronization");
  verb.add_flag("--check-uninitialized", arguments.cpu.check_uninitialized,
                "on cpu: fail if a thread reads shared memory that nothing has written");
  verb.add_flag("--deterministic", arguments.cpu.deterministic,
                "on cpu: run blocks in order on one core, so that atomics on floats give the same "
                "bits in each run");
}

void add_data(CLI::App& verb, run_arguments& arguments)
{
  auto* elements = add_count(verb, "--elements", arguments.elements, {1, k_most_elements},
                             "number of elements to generate, for example 65536, 1e6, 1.5M or 64Ki")
                       ->each([&](std::string const&) { arguments.states_elements = true; });
  add_texts(verb, "--input", arguments.plan.inputs, "FILE.npy",
            ".npy file to use instead: NAME=FILE for each input, of its type; FILE for the only "
            "one; -: standard input")
      ->excludes(elements);
  add_texts(verb, "--output", arguments.plan.outputs, "FILE.npy",
            ".npy file for the results of the last mode, if they are correct: NAME=FILE for each "
            "output; FILE for the only one; -: standard output");
}

void add_plan(CLI::App& verb, run_arguments& arguments)
{
  add_set(verb, arguments.plan.values);
  add_texts(verb, "--state", arguments.plan.states, "FILE",
            "a file with the bytes of a transform's state; --set replaces fields of "
            "it");
  add_texts(verb, "--expect", arguments.plan.expected, "FILE.npy",
            ".npy file that an output must agree with");
  verb.add_flag("--compare-cpu", arguments.compare_cpu,
                "also run on the reference device, and compare the results");
}

}  // namespace

void add_run_arguments(CLI::App& verb, run_arguments& arguments)
{
  add_modules(verb, arguments);
  add_device(verb, arguments);
  add_data(verb, arguments);
  add_plan(verb, arguments);
  add_count(verb, "--seed", arguments.seed, {}, "seed of the generated elements");
  add_count(verb, "--print", arguments.print, {1, k_most_printed},
            "show the first N results beside the expected values")
      ->default_str("");
  add_link_flags(verb, arguments.link);
  add_resources(verb, arguments.resources);
  verb.add_flag("--json", arguments.json, k_json_help);
}

run_arguments with_library(run_arguments arguments)
{
  arguments.library =
      library_for(arguments.library, arguments.transforms, arguments.link.sources.options.contract);
  return arguments;
}

}  // namespace fatlink::cli
