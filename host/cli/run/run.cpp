// SPDX-License-Identifier: Apache-2.0
// fatlink run: links, executes and verifies. Errors in arguments and files are reported before the
// device is opened. Libraries with a launch plan: run_plan.
#include <cstdio>
#include <memory>

#include "error_report.hpp"
#include "options.hpp"
#include "run/device_choice.hpp"
#include "run/elementwise_job.hpp"
#include "run/run_arguments.hpp"
#include "run/run_devices.hpp"
#include "run/run_links.hpp"
#include "run/run_plan.hpp"
#include "run/run_report.hpp"
#include "terminal/progress.hpp"
#include "terminal/streams.hpp"

namespace fatlink::cli {
namespace {

/// Links while the device opens.
std::shared_ptr<device> open_and_link(device_choice& choice, elementwise_job const& job,
                                      run_arguments const& arguments, run_summary& summary)
{
  summary.device = choice.begin_open(arguments.cpu);
  summary.no_gpu_reason = choice.no_gpu_reason();
  check_options(job.links, summary.device, arguments.resources);
  summary.images = link_all(job.links, summary.device, summary.warnings);
  auto opened = choice.finish_open();
  summary.device_ms = choice.ms();
  return opened;
}

/// Erases the progress line before it returns, so results start on a line of their own.
void execute_all(device const& device, elementwise_job const& job, run_arguments const& arguments,
                 run_summary& summary)
{
  progress line;
  auto request = execution_request_of(job, summary);
  request.first_results = arguments.print;
  request.progress = [&](char const* step, double part) { line.show(step, part); };
  summary.results = execute(device, summary.images, *job.elements, request);
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
  auto job = prepare_elementwise(arguments, choice, summary, compiles);
  if (choice.is_list()) return run_on_devices(job, choice, arguments, summary);
  auto const device = open_and_link(choice, job, arguments, summary);
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
