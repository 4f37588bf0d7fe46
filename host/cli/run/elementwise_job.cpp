// SPDX-License-Identifier: Apache-2.0
#include "run/elementwise_job.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "installed.hpp"
#include "options.hpp"
#include "run/run_reference.hpp"
#include "terminal/streams.hpp"

namespace fatlink::cli {
namespace {

std::vector<std::string> requested_kernels(run_arguments const& arguments)
{
  if (arguments.kernel.empty()) return {};
  return {arguments.kernel};
}

void open_output(elementwise_job& job, run_arguments const& arguments)
{
  if (arguments.output.empty()) return;
  if (!is_standard_output(arguments.output)) {
    auto files = job.files.paths;
    files.emplace_back(arguments.input);
    must_not_overwrite(files, arguments.output);
  }
  job.output = create_npy(arguments.output, job.elements->type(), job.elements->extents());
}

void summarize(elementwise_job const& job, run_summary& summary)
{
  auto const& paths = job.files.paths;
  summary.library = paths.front().stem().string();
  for (auto const& path : paths) summary.files.push_back(path.string());
  for (auto const& transform : std::span(paths).subspan(1))
    summary.transform += (summary.transform.empty() ? "" : " + ") + transform.stem().string();
  summary.kernel = job.kernel.name;
  summary.elements = job.elements->size();
}

/// Called after preflight, whose findings are more precise: a hook that nothing calls may be
/// misspelt.
void set_reference(elementwise_job const& job, run_summary& summary)
{
  check_hooks(job.files.inputs);
  auto choice = choose_reference(job.files.modules, sidecar_owners(job.files));
  summary.expected = std::move(choice.expected);
  summary.no_reference = std::move(choice.reason);
  summary.filled_hooks = std::move(choice.filled_hooks);
}

}  // namespace

elementwise_job prepare_elementwise(run_arguments const& arguments, device_choice& choice,
                                    run_summary& summary, compile_report& compiles)
{
  elementwise_job job;
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
  summary.compiles = compiles;
  summary.warnings = compiles.warnings;
  summary.resources = arguments.resources;
  refuse_sass_without_gpu(job.links, choice);
  check_inputs(job.links);
  set_reference(job, summary);
  return job;
}

execution_request execution_request_of(elementwise_job const& job, run_summary const& summary)
{
  return {.kernel = job.kernel.name,
          .reference = summary.expected,
          .output = job.output.get(),
          .block = job.kernel.block,
          .elements_per_thread = job.kernel.elements_per_thread};
}

}  // namespace fatlink::cli
