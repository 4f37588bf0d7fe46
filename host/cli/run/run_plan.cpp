// SPDX-License-Identifier: Apache-2.0
#include "run/run_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "compile/source_inputs.hpp"
#include "error_report.hpp"
#include "fatbin/sidecar.hpp"
#include "fatlink/linker.hpp"
#include "input/stated_digest.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "run/bind_plan.hpp"
#include "run/device_choice.hpp"
#include "run/execute_plan.hpp"
#include "run/plan_data.hpp"
#include "run/plan_report.hpp"
#include "run/run_inputs.hpp"
#include "run/run_links.hpp"
#include "run/verify_plan.hpp"
#include "terminal/step_line.hpp"
#include "terminal/streams.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {
namespace {

/// What outputs hold before the run of the first mode, of the second, and on the reference device.
/// 0xFF: NaN as floats.
constexpr std::array k_unwritten{std::byte{0xFF}, std::byte{0x5A}, std::byte{0xA5}};

/// Everything that is known before a device is opened.
struct prepared_job {
  launch_plan plan = {};
  run_links links = {};
  plan_references references = {};
  plan_arguments arguments = {};
  generated_inputs generated = {};
  run_data data = {};
  double read_ms = 0;  ///< reading the inputs, compiles too
};

/// @throws usage_error an option has no meaning with a plan.
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
  check_inputs(
      job.links);  // first: a transform of another contract may fit no argument of the plan
  auto bound = bind_plan(std::move(plan), job.links.inputs, job.links.modules);
  job.plan = std::move(bound.plan);
  job.references = std::move(bound.references);
  job.generated.copies = {.outputs = job.links.modes.size(),
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

/// Files of states that nothing says the size of.
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
  auto const result = execute(job, *reference_device, std::move(image), k_unwritten.back());
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
  auto job = prepare_job(std::move(plan), arguments, choice, compiles);
  if (arguments.compare_cpu && choice.is_reference_device())
    throw unavailable_error(stage::device,
                            {.message = "--compare-cpu: the run is on the reference device itself",
                             .input = "--compare-cpu",
                             .code = error_code::needs_gpu,
                             .hint = "run it on a GPU: --device gpu; or leave out --compare-cpu"});
  auto const destination = choice.open(arguments.cpu);
  auto summary = summarize(job, arguments, choice, compiles);
  summary.device = destination->info();
  summary.device_ms = choice.ms();
  for (auto& warning : warn_of_states(job)) summary.warnings.push_back(std::move(warning));
  check_options(job.links, summary.device, arguments.resources);
  auto unwritten = k_unwritten.begin();
  for (auto& image : link_all(job.links, summary.device, summary.warnings))
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
