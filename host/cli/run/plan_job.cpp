// SPDX-License-Identifier: Apache-2.0
#include "run/plan_job.hpp"

#include <fmt/format.h>

#include <utility>

#include "error_report.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "run/run_inputs.hpp"
#include "terminal/streams.hpp"

namespace fatlink::cli {
namespace {

/// Refuses outputs that would replace what the run reads, or that cannot be written.
void check_outputs(plan_arguments const& arguments, std::vector<std::filesystem::path> files,
                   bool json)
{
  for (auto const* const inputs : {&arguments.inputs, &arguments.expected, &arguments.states})
    for (auto const& [name, file] : *inputs) files.emplace_back(file);
  for (auto const& [name, file] : arguments.outputs) {
    check_output(file, json);
    if (is_standard_output(file)) continue;
    must_not_overwrite(files, file);
    (void)create_npy(file, scalar_type(scalar_kind::float32), {});
    files.emplace_back(file);
  }
}

run_links read_links(launch_plan const& plan, run_arguments const& arguments, device_choice& choice,
                     compile_report& compiles, double& read_ms)
{
  run_inputs files;
  files.paths = paths_of(arguments);
  read_ms = read_run_inputs(files, source_flags(arguments, files.paths, choice), compiles);
  auto const modes = parse_modes(arguments.mode);
  select_run_modules(files, {.mode = modes.back(),
                             .whole_archive = arguments.link.options.whole_archive,
                             .kernels = plan.kernels()});
  return {.inputs = std::move(files.inputs),
          .modules = std::move(files.modules),
          .modes = modes,
          .launched = plan.kernels(),
          .kept = plan.kernels(),
          .flags = arguments.link};
}

}  // namespace

void check_arguments(launch_plan const& plan, run_arguments const& arguments)
{
  if (!arguments.kernel.empty())
    fail_usage(fmt::format("--kernel {}: the launch plan of {} names its kernels", arguments.kernel,
                           plan.name),
               arguments.kernel, "leave out --kernel");
  auto const modes = parse_modes(arguments.mode);
  for (auto const mode : modes)  // PTX for cpu has fewer options than cubins
    (void)arguments.link.for_mode(mode, modes).make_options({}, mode, image_kind::cubin);
}

std::vector<std::filesystem::path> paths_of(run_arguments const& arguments)
{
  std::vector<std::filesystem::path> paths{input_file(arguments.library)};
  for (auto const& transform : arguments.transforms) paths.push_back(input_file(transform));
  return paths;
}

prepared_job prepare_job(launch_plan plan, run_arguments const& arguments, device_choice& choice,
                         compile_report& compiles)
{
  prepared_job job{.arguments = match_arguments(plan, arguments.plan),
                   .generated = {.elements = arguments.elements,
                                 .must_use_elements = arguments.states_elements,
                                 .seed = arguments.seed}};
  auto const paths = paths_of(arguments);
  check_outputs(job.arguments, paths, arguments.json);
  job.links = read_links(plan, arguments, choice, compiles, job.read_ms);
  for (auto const& [name, file] : job.arguments.outputs) keep_headers(compiles.headers, {file});
  refuse_sass_without_gpu(job.links, choice);
  check_inputs(job.links);  // a transform of another contract may fit no argument of the plan
  auto bound = bind_plan(std::move(plan), job.links.inputs, job.links.modules);
  job.plan = std::move(bound.plan);
  job.references = std::move(bound.references);
  job.generated.copies = {.outputs = job.links.modes.size() + (choice.is_list() ? 1 : 0),
                          .on_host = choice.is_reference_device() || arguments.compare_cpu};
  job.data =
      read_run_data(detail::plan_formulas(job.plan), job.arguments, job.references, job.generated);
  return job;
}

plan_summary summarize(prepared_job const& job, run_arguments const& arguments,
                       device_choice const& choice, compile_report const& compiles)
{
  plan_summary summary{.no_gpu_reason = choice.no_gpu_reason(),
                       .read_ms = job.read_ms,
                       .plan = job.plan,
                       .sizes = job.data.sizes,
                       .printed = arguments.print,
                       .compiles = compiles,
                       .warnings = compiles.warnings,
                       .resources = arguments.resources};
  for (auto const& path : paths_of(arguments)) summary.files.push_back(path.string());
  return summary;
}

std::vector<std::string> warn_of_states(prepared_job const& job)
{
  std::vector<std::string> warnings;
  for (auto const& [name, file] : job.arguments.states)
    if (owner_of(*job.plan.find(name), job.references.list) == nullptr)
      warnings.push_back(fmt::format(
          "--state {}: no transform states the fields of its state, so that the size of {}, {} "
          "bytes, is not checked",
          name, file, job.data.states.at(name).size()));
  print_warnings(warnings);
  return warnings;
}

}  // namespace fatlink::cli
