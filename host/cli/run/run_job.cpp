// SPDX-License-Identifier: Apache-2.0
#include "run/run_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "error_report.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/source.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "plan/check_plan.hpp"
#include "preflight/symbols.hpp"
#include "run/implied_plan.hpp"
#include "terminal/streams.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {
namespace {

/// @throws usage_error --kernel: the plan names its kernels.
void check_kernel(run_library const& library, std::string const& kernel)
{
  if (!kernel.empty() && !library.is_implied)
    fail_usage(fmt::format("--kernel {}: the launch plan of {} names its kernels", kernel,
                           library.plan.name),
               kernel, "leave out --kernel");
}

/// @throws usage_error options of links that no mode takes.
void check_link_options(run_arguments const& arguments)
{
  auto const modes = parse_modes(arguments.mode);
  for (auto const mode : modes)  // PTX for cpu has fewer options than cubins
    (void)arguments.link.for_mode(mode, modes).make_options({}, mode, image_kind::cubin);
}

/// Refuses outputs that would replace what the run reads, or that cannot be written.
void check_outputs(plan_arguments const& arguments, std::vector<std::filesystem::path> files,
                   bool json)
{
  for (auto const* const inputs : {&arguments.inputs, &arguments.expected, &arguments.states})
    for (auto const& [name, file] : *inputs) files.emplace_back(file);
  for (auto const& [name, file] : arguments.outputs) {
    check_output(file, json);
    if (is_standard_output(file)) {
      print_text_to_standard_error();
      continue;
    }
    must_not_overwrite(files, file);
    (void)create_npy(file, scalar_type(scalar_kind::float32), {});
    files.emplace_back(file);
  }
}

/// The flags of the sources among `paths`. The reference device names the lines of errors, so it
/// gets them.
compile_flags source_flags(run_arguments const& arguments,
                           std::vector<std::filesystem::path> const& paths, device_choice& choice)
{
  auto flags = arguments.link.source_flags();
  if (std::ranges::any_of(paths, is_source_name))
    flags.options.line_info = flags.options.line_info || choice.is_reference_device();
  return flags;
}

/// Of the modules, how many are the library's, which are first.
std::size_t count_library_modules(run_links const& links)
{
  auto const& library = links.inputs.front().modules();
  auto const is_of_library = [&](fatbin const& module) {
    return std::ranges::any_of(library, [&](fatbin const& other) {
      return module.bytes().data() == other.bytes().data();
    });
  };
  return static_cast<std::size_t>(std::ranges::count_if(links.modules, is_of_library));
}

/// Reads the inputs, and selects the modules that links take of them, for every mode alike.
void read_links(run_job& job, std::optional<input> library, run_arguments const& arguments,
                device_choice& choice, compile_report& compiles)
{
  detail::stopwatch watch;
  auto& links = job.links;
  links.flags = arguments.link;
  links.modes = parse_modes(arguments.mode);
  links.inputs = read_inputs(job.files, source_flags(arguments, job.files, choice), &compiles,
                             std::move(library));
  job.read_ms += watch.lap();
  if (!job.is_implied)
    links.kept = detail::kernels_to_keep(job.plan, links.inputs);
  else if (!arguments.kernel.empty())
    links.kept = {arguments.kernel};
  links.modules =
      select_modules(links.inputs, {.target = detail::newest_target(),
                                    .mode = links.modes.back(),
                                    .allow_calls = true,
                                    .whole_archive = arguments.link.options.whole_archive,
                                    .kernels = links.kept});
  if (job.is_implied)
    add_launch(job.plan, links.modules, arguments.kernel, count_library_modules(links));
  links.launched = job.plan.kernels();
}

/// Names of installed transforms for the contract of `library`, at most eight; empty where it
/// states none, or none is installed.
std::string list_transforms(input const& library)
{
  constexpr std::size_t k_most_names = 8;
  auto const* const contract = find_contract(library);
  if (contract == nullptr) return {};
  std::string list;
  std::size_t count = 0;
  for (auto const& entry : list_installed(search_path())) {
    auto const& stated = entry.ident;
    if (!is_used(entry) || entry.role != fatbin_role::transform || !stated ||
        stated->contract != contract->contract || stated->version != contract->version)
      continue;
    if (count++ == k_most_names) return list + ", … (fatlink list)";
    list += (list.empty() ? "" : ", ") + entry.name;
  }
  return list;
}

/// As check_inputs; where a transform is missing, the hints name those that are installed.
void check_transforms(run_links const& links, bool has_transform)
try {
  check_inputs(links);
} catch (refused_error const& refused) {
  auto findings = refused.findings();
  auto const is_missing = [](finding const& entry) { return entry.id == finding_id::missing_hook; };
  if (has_transform || std::ranges::none_of(findings, is_missing)) throw;
  auto const names = list_transforms(links.inputs.front());
  if (names.empty()) throw;
  for (auto& entry : findings)
    if (is_missing(entry)) entry.hint += fmt::format("; installed for its contract: {}", names);
  throw refused_error(std::move(findings));
}

/// By rows, the host holds some rows at a time.
array_copies copies_of(run_job const& job, run_arguments const& arguments, device_choice& choice)
{
  auto const on_host = choice.is_reference_device() || arguments.compare_cpu;
  if (job.split.is_by_rows()) return {.inputs = 0, .outputs = 0, .on_host = on_host};
  return {.outputs = job.links.modes.size() + (choice.is_list() ? 1 : 0), .on_host = on_host};
}

}  // namespace

run_library read_library(std::string const& library)
{
  detail::stopwatch watch;
  run_library result{.file = fatbin_or_default(library, k_shipped_library)};
  if (!is_source_name(result.file)) result.code = input::read(result.file);
  auto plan = result.code ? launch_plan::beside(*result.code) : launch_plan::beside(result.file);
  result.is_implied = !plan;
  result.plan = plan ? std::move(*plan) : implied_plan(result.file);
  result.read_ms = watch.lap();
  return result;
}

std::vector<std::filesystem::path> find_files(std::string const& library,
                                              std::vector<std::string> const& transforms)
{
  std::vector<std::filesystem::path> files{fatbin_or_default(library, k_shipped_library)};
  for (auto const& transform : transforms) files.push_back(input_file(transform));
  return files;
}

std::vector<std::filesystem::path> find_files(run_library const& library,
                                              std::vector<std::string> const& transforms)
{
  auto files = find_files(library.file.string(), transforms);
  auto const takes_default =
      library.is_implied || library.plan.contract.starts_with(std::string(k_default_library) + '/');
  if (transforms.empty() && takes_default)
    files.push_back(fatbin_or_default({}, k_shipped_transform));
  return files;
}

run_job prepare_job(run_arguments const& arguments, device_choice& choice, compile_report& compiles)
{
  check_link_options(arguments);
  auto library = read_library(arguments.library);
  check_kernel(library, arguments.kernel);
  run_job job{.arguments = match_arguments(library.plan, arguments.plan),
              .generated = {.elements = arguments.elements,
                            .must_use_elements = arguments.states_elements,
                            .seed = arguments.seed},
              .files = find_files(library, arguments.transforms),
              .read_ms = library.read_ms};
  job.plan = std::move(library.plan);
  job.is_implied = library.is_implied;
  job.split = split_of(job.plan);
  if (choice.is_list()) require_divisible(job.plan, job.split);
  check_outputs(job.arguments, job.files, arguments.json);
  read_links(job, std::move(library.code), arguments, choice, compiles);
  for (auto const& [name, file] : job.arguments.outputs) keep_headers(compiles.headers, {file});
  refuse_sass_without_gpu(job.links, choice);
  check_transforms(
      job.links,
      job.files.size() > 1);  // a transform of another contract may fit no argument of the plan
  auto bound = bind_plan(std::move(job.plan), job.links.inputs, job.links.modules);
  job.plan = std::move(bound.plan);
  job.split = split_of(job.plan);  // with types
  job.references = std::move(bound.references);
  job.generated.copies = copies_of(job, arguments, choice);
  job.data =
      read_run_data(detail::plan_formulas(job.plan), job.arguments, job.references, job.generated);
  return job;
}

std::vector<std::string> warn_of_states(run_job const& job)
{
  std::vector<std::string> warnings;
  for (auto const& [name, file] : job.arguments.states)
    if (owner_of(*job.plan.find(name), job.references.list) == nullptr)
      warnings.push_back(
          fmt::format("--state {}: no transform declares the fields of its state, so the size of "
                      "{}, {} bytes, is not checked",
                      name, file, job.data.states.at(name).size()));
  print_warnings(warnings);
  return warnings;
}

}  // namespace fatlink::cli
