// SPDX-License-Identifier: Apache-2.0
// fatlink run: links, executes and verifies. Errors in arguments and files are reported before the
// device is opened. Libraries with a launch plan: run_plan.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>

#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/source.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "run/device_choice.hpp"
#include "run/run_arguments.hpp"
#include "run/run_inputs.hpp"
#include "run/run_kernel.hpp"
#include "run/run_links.hpp"
#include "run/run_plan.hpp"
#include "run/run_reference.hpp"
#include "run/run_report.hpp"
#include "terminal/progress.hpp"
#include "terminal/streams.hpp"

namespace fatlink::cli {
namespace {

/// Inputs and outputs, read and checked without a device.
struct prepared {
  run_inputs files;
  run_kernel kernel;
  std::unique_ptr<element_source> elements;
  std::unique_ptr<npy_writer> output;
  run_links links;
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

prepared prepare(run_arguments const& arguments, device_choice& choice, run_summary& summary,
                 compile_report& compiles)
{
  prepared job;
  job.files = find_run_inputs(arguments.library, arguments.transforms);
  auto const modes = parse_modes(arguments.mode);
  summary.read_ms =
      read_run_inputs(job.files, source_flags(arguments, job.files.paths, choice), compiles);
  select_run_modules(job.files, {.mode = modes.back(),
                                 .whole_archive = arguments.link.options.whole_archive,
                                 .kernels = requested_kernels(arguments)});
  job.kernel = select_kernel(job.files.modules, arguments.kernel, job.files.library_modules);
  // After the kernel: a library whose launch plan is lost takes no array of floats.
  job.elements = arguments.input.empty() ? generated_elements(arguments.elements, arguments.seed)
                                         : float_vector(open_npy(arguments.input));
  // The kernel is kept only if it was asked for: the image of the default kernel is that of
  // `fatlink link` without --kernel.
  job.links = {.inputs = job.files.inputs,
               .modules = job.files.modules,
               .modes = modes,
               .launched = {job.kernel.name},
               .kept = requested_kernels(arguments),
               .flags = arguments.link};
  keep_headers(compiles.headers, {arguments.output});
  open_output(job, arguments);
  summarize(job, summary);
  return job;
}

/// Called after preflight, whose findings are more precise: a hook that nothing calls may be
/// misspelt.
void set_reference(prepared const& job, run_summary& summary)
{
  check_hooks(job.files.inputs);
  auto choice = choose_reference(job.files.modules, sidecar_owners(job.files));
  summary.expected = std::move(choice.expected);
  summary.no_reference = std::move(choice.reason);
  summary.filled_hooks = std::move(choice.filled_hooks);
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

/// What the library's only kernel, elementwise on floats, computes.
int run_elementwise(run_arguments const& arguments, compile_report& compiles)
{
  check_output(arguments.output, arguments.json);
  auto const modes = parse_modes(arguments.mode);
  for (auto const mode : modes)  // PTX for cpu has fewer options than cubins
    (void)arguments.link.for_mode(mode, modes).make_options({}, mode, image_kind::cubin);
  device_choice choice(arguments.device);
  run_summary summary;
  auto job = prepare(arguments, choice, summary, compiles);
  summary.compiles = compiles;
  summary.warnings = compiles.warnings;
  refuse_sass_without_gpu(job.links, choice);
  check_inputs(job.links);
  set_reference(job, summary);
  auto const device = open_chosen(choice, arguments, summary);
  check_options(job.links, summary.device, arguments.resources);
  summary.images = link_all(job.links, summary.device, summary.warnings);
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

}  // namespace

int run(run_arguments const& given, compile_report& compiles)
{
  auto const arguments = with_library(given);
  if (auto plan = plan_of_library(arguments.library))
    return run_plan(std::move(*plan), arguments, compiles);
  refuse_plan_options(arguments);
  return run_elementwise(arguments, compiles);
}

void add_run(CLI::App& app, int& exit_status)
{
  auto arguments = std::make_shared<run_arguments>();
  auto* verb = app.add_subcommand("run", "Link a library with transforms, execute and verify.");
  add_run_arguments(*verb, *arguments);
  verb->footer("Example: fatlink run --transform gelu --elements 1000000");
  verb->callback([arguments, &exit_status] {
    if (arguments->plan.inputs.size() == 1) arguments->input = arguments->plan.inputs.front();
    if (arguments->plan.outputs.size() == 1) arguments->output = arguments->plan.outputs.front();
    arguments->link.note_inputs({arguments->library, arguments->watched});
    arguments->link.note_inputs(arguments->transforms);
    compile_report compiles;
    exit_status = arguments->watched.empty() ? run(*arguments, compiles) : run_watching(*arguments);
  });
}

}  // namespace fatlink::cli
