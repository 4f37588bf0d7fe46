// SPDX-License-Identifier: Apache-2.0
#include "run/run_plan.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "error_report.hpp"
#include "fatbin/sidecar.hpp"
#include "fatlink/linker.hpp"
#include "input/stated_digest.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "run/device_choice.hpp"
#include "run/execute_plan.hpp"
#include "run/plan_job.hpp"
#include "run/run_plan_devices.hpp"
#include "run/verify_plan.hpp"
#include "terminal/step_line.hpp"
#include "terminal/streams.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {
namespace {

/// Loads and runs `image` with the inputs that its code needs on this device.
mode_result execute(prepared_job& job, device const& destination, linked_image image,
                    std::byte unwritten)
{
  step_line const line(fmt::format("running {} mode on {}", to_string(image.mode),
                                   to_string(destination.info().kind)));
  detail::stopwatch watch;
  auto const code = prepare(destination, job.plan, job.links.inputs, std::move(image));
  auto const load_ms = watch.lap();
  add_device_inputs(job.data, code, job.arguments, job.generated);
  auto result = execute_plan(destination, code, job.data, unwritten);
  result.load_ms = load_ms;
  return result;
}

/// Runs the image of lto mode on the reference device, too.
void compare_with_cpu(prepared_job& job, cpu_options const& options, plan_summary& summary)
{
  auto const reference_device = open_device("cpu", options);
  auto linker = job.links.flags.linker();
  auto image = link_in_mode(linker, job.links, link_mode::lto, reference_device->info());
  auto const result = execute(job, *reference_device, std::move(image), k_unwritten_bytes.back());
  verify_against_cpu({job.plan, job.data, job.references}, result, summary);
}

void verify(prepared_job const& job, plan_summary& summary, std::size_t print)
{
  step_line const line("verifying");
  verify_modes({job.plan, job.data, job.references}, summary, print);
}

void write_outputs(prepared_job const& job, plan_summary const& summary)
{
  if (!summary.verified()) return;
  for (auto const& [name, file] : job.arguments.outputs) {
    auto const& array = summary.modes.back().outputs.at(name);
    auto const writer = create_npy(file, array.type, array.extents);
    writer->append(array.bytes);
    writer->commit();
  }
}

}  // namespace

std::optional<launch_plan> plan_of_library(std::string const& library)
{
  if (library.empty()) return std::nullopt;
  return launch_plan::beside(input_file(library));
}

std::string explain_no_plan(std::filesystem::path const& library)
{
  if (auto const sidecar = detail::find_sidecar(library))
    return fmt::format("{} states no launch plan", sidecar->string());
  return fmt::format("there is no {} with a launch plan", detail::sidecar_of(library).string());
}

void fail_without_plan(char const* option, std::string const& library)
{
  auto const reason = library.empty() ? std::string{} : explain_no_plan(input_file(library)) + "; ";
  fail_usage(fmt::format("{}: the library has no launch plan", option), option,
             reason + "pass a library whose .json states one: fatlink inspect LIBRARY shows it");
}

void refuse_plan_options(run_arguments const& arguments)
{
  auto const& plan = arguments.plan;
  auto const refuse = [&](char const* option) { fail_without_plan(option, arguments.library); };
  if (plan.inputs.size() > 1) refuse("a second --input");
  if (plan.outputs.size() > 1) refuse("a second --output");
  if (!plan.expected.empty()) refuse("--expect");
  if (!plan.states.empty()) refuse("--state");
  if (!plan.values.empty()) refuse("--set");
  if (arguments.compare_cpu) refuse("--compare-cpu");
}

int run_plan(launch_plan plan, run_arguments const& arguments, compile_report& compiles)
{
  check_arguments(plan, arguments);
  device_choice choice(arguments.device);
  if (choice.is_list()) return run_plan_on_devices(std::move(plan), arguments, choice, compiles);
  auto job = prepare_job(std::move(plan), arguments, choice, compiles);
  if (arguments.compare_cpu && choice.is_reference_device())
    throw unavailable_error(stage::device,
                            {.message = "--compare-cpu: the run is on the reference device itself",
                             .input = "--compare-cpu",
                             .code = error_code::needs_gpu,
                             .hint = "run it on a GPU: --device gpu; or leave out --compare-cpu"});
  auto const info = choice.begin_open(arguments.cpu);
  auto summary = summarize(job, arguments, choice, compiles);
  summary.device = info;
  for (auto& warning : warn_of_states(job)) summary.warnings.push_back(std::move(warning));
  check_options(job.links, summary.device, arguments.resources);
  auto images = link_all(job.links, summary.device, summary.warnings);
  auto const destination = choice.finish_open();
  summary.device_ms = choice.ms();
  auto unwritten = k_unwritten_bytes.begin();
  for (auto& image : images)
    summary.modes.push_back(execute(job, *destination, std::move(image), *unwritten++));
  verify(job, summary, arguments.print);
  if (arguments.compare_cpu) compare_with_cpu(job, arguments.cpu, summary);
  write_outputs(job, summary);
  if (arguments.json)
    print_json("fatlink.run-plan/1", to_json(summary));
  else
    print_text(summary);
  std::fflush(stdout);  // closing the device takes time
  return summary.verified() ? k_done : k_not_verified;
}

}  // namespace fatlink::cli
