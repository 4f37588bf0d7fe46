// SPDX-License-Identifier: Apache-2.0
// fatlink run: links, executes and verifies. Errors in arguments and files are reported before the
// device is opened.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>

#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/source.hpp"
#include "installed.hpp"
#include "link_flags.hpp"
#include "linker/check_arguments.hpp"
#include "linker/request_of.hpp"
#include "options.hpp"
#include "preflight/interface_queries.hpp"
#include "resources_report.hpp"
#include "run/device_choice.hpp"
#include "run/run_arguments.hpp"
#include "run/run_inputs.hpp"
#include "run/run_kernel.hpp"
#include "run/run_plan.hpp"
#include "run/run_reference.hpp"
#include "run/run_report.hpp"
#include "terminal/progress.hpp"
#include "terminal/streams.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

constexpr std::size_t k_most_elements = std::size_t{1} << 40;
constexpr std::size_t k_most_printed = std::size_t{1} << 20;

/// Inputs and outputs, read and checked without a device.
struct prepared {
  run_inputs files;
  run_kernel kernel;
  std::unique_ptr<element_source> elements;
  std::unique_ptr<npy_writer> output;
  std::vector<link_mode> modes;
};

std::vector<std::string> requested_kernels(run_arguments const& arguments)
{
  if (arguments.kernel.empty()) return {};
  return {arguments.kernel};
}

void open_output(prepared& job, run_arguments const& arguments)
{
  if (arguments.output.empty()) return;
  if (!is_standard_output(arguments.output)) {
    auto files = job.files.paths;
    files.emplace_back(arguments.input);
    must_not_overwrite(files, arguments.output);
  }
  job.output = create_npy(arguments.output, job.elements->type(), job.elements->extents());
}

void summarize(prepared const& job, run_summary& summary)
{
  auto const& paths = job.files.paths;
  summary.library = paths.front().stem().string();
  for (auto const& path : paths) summary.files.push_back(path.string());
  for (auto const& transform : std::span(paths).subspan(1))
    summary.transform += (summary.transform.empty() ? "" : " + ") + transform.stem().string();
  summary.kernel = job.kernel.name;
  summary.elements = job.elements->size();
}

/// The flags of sources. The reference device names the lines of errors, so it gets them.
compile_flags source_flags(run_arguments const& arguments, run_inputs const& files,
                           device_choice& choice)
{
  auto flags = arguments.link.source_flags();
  if (std::ranges::any_of(files.paths, is_source_name))
    flags.options.line_info = choice.is_reference_device();
  return flags;
}

prepared prepare(run_arguments const& arguments, device_choice& choice, run_summary& summary)
{
  prepared job;
  job.files = find_run_inputs(arguments.library, arguments.transforms);
  job.modes = parse_modes(arguments.mode);
  job.elements = arguments.input.empty() ? generated_elements(arguments.elements, arguments.seed)
                                         : float_vector(open_npy(arguments.input));
  summary.read_ms =
      read_run_inputs(job.files, source_flags(arguments, job.files, choice), summary.compiles);
  select_run_modules(job.files, {.mode = job.modes.back(),
                                 .whole_archive = arguments.link.options.whole_archive,
                                 .kernels = requested_kernels(arguments)});
  job.kernel = select_kernel(job.files.modules, arguments.kernel, job.files.library_modules);
  open_output(job, arguments);
  summarize(job, summary);
  return job;
}

/// Called after preflight, whose findings are more precise: a hook that nothing calls may be
/// misspelt.
void set_reference(prepared const& job, run_summary& summary)
{
  auto choice = choose_reference(job.files.modules, sidecar_owners(job.files));
  summary.expected = std::move(choice.expected);
  summary.no_reference = std::move(choice.reason);
  summary.filled_hooks = std::move(choice.filled_hooks);
}

/// Before preflight, which would report that such inputs have no PTX.
/// @throws unavailable_error an input holds SASS only, and the device is the reference device.
void refuse_sass_without_gpu(prepared const& job, device_choice& choice)
{
  auto const& modules = job.files.modules;
  auto const needs_sass = job.modes.front() == link_mode::sass;
  if (!needs_sass && std::ranges::none_of(modules, detail::is_sass_only)) return;
  if (!choice.is_reference_device()) return;
  if (needs_sass)
    throw unavailable_error(stage::device, {.message = "the reference device runs PTX, not SASS",
                                            .input = modules.front().name(),
                                            .code = error_code::needs_gpu,
                                            .hint = "run it on a GPU: --device gpu"});
  detail::check_reference_device(modules);
}

preflight_request make_request(link_mode mode, prepared const& job, run_arguments const& arguments)
{
  auto options = arguments.link.options;
  if (arguments.link.has_sources) complete_float_flags(options, mode);
  options.mode = mode;
  options.kernels = {job.kernel.name};
  return detail::request_of(options);
}

/// Refuses inputs that link for no target, without a device, so that every machine reports them.
void check_inputs(prepared const& job, run_arguments const& arguments)
{
  for (auto const mode : job.modes)
    if (auto findings = preflight_any_target(job.files.modules, make_request(mode, job, arguments));
        !findings.empty())
      throw refused_error(std::move(findings));
}

std::shared_ptr<device> open_chosen(device_choice& choice, run_arguments const& arguments,
                                    run_summary& summary)
{
  auto opened = choice.open(arguments.cpu);
  summary.device = opened->info();
  summary.device_ms = choice.ms();
  summary.no_gpu_reason = choice.no_gpu_reason();
  return opened;
}

/// The options of one link. The kernel is one of them only if it was asked for: the image of the
/// default kernel is that of `fatlink link` without --kernel.
link_options make_options(link_mode mode, run_arguments const& arguments,
                          run_summary const& summary)
{
  auto flags = arguments.link.for_mode(mode, parse_modes(arguments.mode));
  flags.options.kernels = requested_kernels(arguments);
  return flags.make_options(summary.device.target, mode, summary.device.image_for(mode));
}

/// Checks the options of every link before the first one.
/// @throws usage_error an option has no effect in one of the modes on this device.
void check_options(prepared const& job, run_arguments const& arguments, run_summary const& summary)
try {
  for (auto const mode : job.modes) (void)make_options(mode, arguments, summary);
  if (arguments.resources && summary.device.kind == device_kind::cpu)
    refuse_resources("on the reference device, which runs PTX", "run on a GPU: --device gpu");
} catch (usage_error const& failure) {
  auto details = failure.details();
  if (details.code != error_code::option_has_no_effect || summary.device.kind != device_kind::cpu)
    throw;
  // The reference device takes PTX only, whatever the mode.
  for (auto const* const remedy : {"emit a cubin for a GPU: image_kind::cubin", "link for a GPU"})
    if (auto const position = details.hint.find(remedy); position != std::string::npos)
      details.hint.replace(position, std::string::npos, "run on a GPU: --device gpu");
  throw usage_error(details);
}

void link_all(prepared const& job, run_arguments const& arguments, run_summary& summary)
{
  auto linker = arguments.link.linker();
  std::vector<std::string> warnings;
  for (auto const mode : job.modes) {
    summary.images.push_back(linker.link(job.files.inputs, make_options(mode, arguments, summary)));
    for (auto const& warning : summary.images.back().warnings)
      if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
        warnings.push_back(warning);
  }
  print_warnings(warnings);
  summary.warnings = summary.compiles.warnings;
  summary.warnings.insert(summary.warnings.end(), warnings.begin(), warnings.end());
}

/// Erases the progress line before it returns, so results start on a line of their own.
void execute_all(device const& device, prepared const& job, run_arguments const& arguments,
                 run_summary& summary)
{
  progress line;
  summary.results =
      execute(device, summary.images, *job.elements,
              {.kernel = job.kernel.name,
               .reference = summary.expected,
               .output = job.output.get(),
               .progress = [&](char const* step, double part) { line.show(step, part); },
               .block = job.kernel.block,
               .elements_per_thread = job.kernel.elements_per_thread,
               .first_results = arguments.print});
}

/// What only libraries with a launch plan take.
/// @throws usage_error one of these options is given.
void refuse_plan_options(run_arguments const& arguments)
{
  auto const& plan = arguments.plan;
  auto const refuse = [](char const* option) {
    fail_usage(fmt::format("{}: the library has no launch plan", option), option,
               "pass a library whose .json states one: fatlink inspect LIBRARY shows it");
  };
  if (plan.inputs.size() > 1) refuse("a second --input");
  if (plan.outputs.size() > 1) refuse("a second --output");
  if (!plan.expected.empty()) refuse("--expect");
  if (!plan.states.empty()) refuse("--state");
  if (!plan.values.empty()) refuse("--set");
  if (arguments.compare_cpu) refuse("--compare-cpu");
}

int run_by_plan(launch_plan plan, run_arguments const& arguments)
{
  if (!arguments.kernel.empty())
    fail_usage(fmt::format("--kernel {}: the launch plan of {} names its kernels", arguments.kernel,
                           plan.name),
               arguments.kernel, "leave out --kernel");
  for (auto const& output : arguments.plan.outputs)
    check_output(output.substr(output.find('=') + 1), arguments.json);
  plan_job job{.texts = arguments.plan,
               .generated = {.elements = arguments.elements, .seed = arguments.seed},
               .modes = parse_modes(arguments.mode),
               .device = arguments.device,
               .cpu = arguments.cpu,
               .link = arguments.link,
               .compare_cpu = arguments.compare_cpu,
               .print = arguments.print,
               .json = arguments.json};
  job.paths.push_back(input_file(arguments.library));
  for (auto const& transform : arguments.transforms) job.paths.push_back(input_file(transform));
  return run_plan(std::move(plan), job);
}

}  // namespace

int run(run_arguments const& arguments, run_summary& summary)
{
  if (auto plan = plan_of_library(arguments.library))
    return run_by_plan(std::move(*plan), arguments);
  refuse_plan_options(arguments);
  check_output(arguments.output, arguments.json);
  auto const modes = parse_modes(arguments.mode);
  for (auto const mode : modes)  // PTX for cpu has fewer options than cubins
    (void)arguments.link.for_mode(mode, modes).make_options({}, mode, image_kind::cubin);
  device_choice choice(arguments.device);
  auto job = prepare(arguments, choice, summary);
  refuse_sass_without_gpu(job, choice);
  check_inputs(job, arguments);
  set_reference(job, summary);
  auto const device = open_chosen(choice, arguments, summary);
  check_options(job, arguments, summary);
  link_all(job, arguments, summary);
  summary.resources = arguments.resources;
  execute_all(*device, job, arguments, summary);
  if (job.output && summary.verified()) job.output->commit();
  if (arguments.json)
    print_json("fatlink.run/1", to_json(summary));
  else
    print_text(summary);
  std::fflush(stdout);  // closing the device takes time
  return summary.verified() ? k_done : k_not_verified;
}

namespace {

int run(run_arguments const& arguments)
{
  run_summary summary;
  return run(arguments, summary);
}

}  // namespace

void add_run(CLI::App& app, int& exit_status)
{
  auto arguments = std::make_shared<run_arguments>();
  auto* verb = app.add_subcommand("run", "Link a library with transforms, execute and verify.");
  verb->add_option("--library", arguments->library,
                   "library: name, or file of any form (default: apply_transform)");
  verb->add_option("--transform", arguments->transforms,
                   "transform: name, or file of any form (default: relu_poly); repeat it for "
                   "several\ntransforms")
      ->allow_extra_args(false);
  verb->add_option("--watch", arguments->watched,
                   "a transform, source or other file: run again whenever a file that the run "
                   "reads changes: "
                   "it, its .json, the headers that it includes, the library")
      ->type_name("FILE");
  verb->add_option("--kernel", arguments->kernel,
                   "kernel to execute, with parameters (const float*, float*, size_t) (default: "
                   "apply_transform, or the library's only kernel)");
  add_mode(*verb, arguments->mode);
  verb->add_option(
          "--device", arguments->device,
          "gpu, gpu:N, or cpu, the reference device, which links for sm_90; cpu:TARGET: for "
          "TARGET (default: gpu, or cpu without a GPU)")
      ->each(check_device);
  add_count(*verb, "--instruction-budget", arguments->cpu.instruction_budget, {},
            "on cpu: maximum number of instructions of a warp; 0: no limit");
  verb->add_flag("--check-races", arguments->cpu.check_races,
                 "on cpu: fail if two threads write to one address");
  auto* elements =
      add_count(*verb, "--elements", arguments->elements, {1, k_most_elements},
                "number of elements to generate, for example 65536, 1e6, 1.5M or 64Ki");
  verb->add_option("--input", arguments->plan.inputs,
                   ".npy file with a one-dimensional float32 array to use instead; -: standard "
                   "input; with a "
                   "launch plan NAME=FILE, of any type, for each input")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->excludes(elements);
  verb->add_option("--output", arguments->plan.outputs,
                   ".npy file for the results of the last mode, if they are correct; -: standard "
                   "output; with a "
                   "launch plan NAME=FILE for each output")
      ->type_name("FILE")
      ->allow_extra_args(false);
  verb->add_option("--set", arguments->plan.values,
                   "launch plan: a size, a value, or a field of a struct or state: n=1000, init=0, "
                   "bounds.low=1")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--state", arguments->plan.states,
                   "launch plan: a file with the bytes of a transform's state")
      ->type_name("FILE")
      ->allow_extra_args(false);
  verb->add_option("--expect", arguments->plan.expected,
                   "launch plan: .npy file that an output must equal")
      ->type_name("FILE")
      ->allow_extra_args(false);
  verb->add_flag("--compare-cpu", arguments->compare_cpu,
                 "launch plan: also run on the reference device, and compare the results");
  add_count(*verb, "--seed", arguments->seed, {}, "seed of the generated elements");
  add_count(*verb, "--print", arguments->print, {1, k_most_printed},
            "show the first N results with their inputs and expected values")
      ->default_str("");
  add_link_flags(*verb, arguments->link);
  add_resources(*verb, arguments->resources);
  verb->add_flag("--json", arguments->json, k_json_help);
  verb->footer("Example: fatlink run --transform gelu --elements 1000000");
  verb->callback([arguments, &exit_status] {
    if (arguments->plan.inputs.size() == 1) arguments->input = arguments->plan.inputs.front();
    if (arguments->plan.outputs.size() == 1) arguments->output = arguments->plan.outputs.front();
    arguments->link.note_inputs({arguments->library, arguments->watched});
    arguments->link.note_inputs(arguments->transforms);
    exit_status = arguments->watched.empty() ? run(*arguments) : run_watching(*arguments);
  });
}

}  // namespace fatlink::cli
