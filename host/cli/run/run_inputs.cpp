// SPDX-License-Identifier: Apache-2.0
#include "run/run_inputs.hpp"

#include <algorithm>

#include "fatlink/source.hpp"
#include "installed.hpp"
#include "preflight/interface_queries.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {
namespace {

/// Whether `module` is one of `file`.
bool is_of(fatbin const& module, input const& file)
{
  return std::any_of(file.modules().begin(), file.modules().end(), [&](fatbin const& other) {
    return module.bytes().data() == other.bytes().data();
  });
}

}  // namespace

run_inputs find_run_inputs(std::string const& library, std::vector<std::string> const& transforms)
{
  run_inputs job;
  job.paths.push_back(fatbin_or_default(library, k_shipped_library));
  for (auto const& transform : transforms) job.paths.push_back(input_file(transform));
  if (transforms.empty()) job.paths.push_back(fatbin_or_default({}, k_shipped_transform));
  return job;
}

compile_flags source_flags(run_arguments const& arguments,
                           std::vector<std::filesystem::path> const& paths, device_choice& choice)
{
  auto flags = arguments.link.source_flags();
  if (std::ranges::any_of(paths, is_source_name))
    flags.options.line_info = choice.is_reference_device();
  return flags;
}

double read_run_inputs(run_inputs& job, compile_flags const& flags, compile_report& report)
{
  detail::stopwatch watch;
  job.inputs = read_inputs(job.paths, flags, &report);
  return watch.lap();
}

void select_run_modules(run_inputs& job, preflight_request request)
{
  request.target = detail::newest_target();
  request.allow_calls = true;
  job.modules = select_modules(job.inputs, request);
  auto const is_transform = [&](fatbin const& module) {
    return !is_of(module, job.inputs.front());
  };
  auto const transform = std::ranges::find_if(job.modules, is_transform);
  job.library_modules = static_cast<std::size_t>(transform - job.modules.begin());
}

std::vector<std::filesystem::path> sidecar_owners(run_inputs const& job)
{
  std::vector<std::filesystem::path> owners(job.modules.size());
  for (std::size_t i = 0; i < job.modules.size(); ++i)
    for (std::size_t file = 1; file < job.inputs.size(); ++file)
      if (is_of(job.modules[i], job.inputs[file])) owners[i] = job.paths[file];
  return owners;
}

}  // namespace fatlink::cli
