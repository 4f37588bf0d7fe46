// SPDX-License-Identifier: Apache-2.0
// fatlink run: links, executes and verifies. Errors in arguments and files are reported before the
// device is opened.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "installed.hpp"
#include "link_flags.hpp"
#include "linker/request_of.hpp"
#include "options.hpp"
#include "preflight/interface_queries.hpp"
#include "run/run_kernel.hpp"
#include "run/run_reference.hpp"
#include "run/run_report.hpp"
#include "terminal/progress.hpp"
#include "terminal/streams.hpp"
#include "util/process/stopwatch.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

constexpr std::size_t k_most_elements = std::size_t{1} << 40;
constexpr std::size_t k_most_printed = std::size_t{1} << 20;

struct run_arguments {
  std::string library;
  std::vector<std::string> transforms;
  std::string kernel;
  std::string mode = "both";
  std::string device;
  cpu_options cpu;
  std::size_t elements = 65536;
  std::string input;
  std::string output;
  std::uint64_t seed = 0;
  std::size_t print = 0;
  link_flags link;
  bool json = false;
};

/// Inputs and outputs, read and checked without a device.
struct prepared {
  std::vector<input> inputs;    ///< the library first
  std::vector<fatbin> modules;  ///< those of `inputs` that links take
  run_kernel kernel;
  std::vector<std::filesystem::path> transforms;
  std::unique_ptr<element_source> elements;
  std::unique_ptr<npy_writer> output;
  std::vector<link_mode> modes;
};

std::vector<std::string> requested_kernels(run_arguments const& arguments)
{
  if (arguments.kernel.empty()) return {};
  return {arguments.kernel};
}

/// Reads the files, and selects their modules by the PTX, or else the SASS, that they hold.
void read_inputs(prepared& job, std::filesystem::path const& library,
                 run_arguments const& arguments, run_summary& summary)
{
  detail::stopwatch watch;
  job.inputs = {input::read(library)};
  for (auto const& transform : job.transforms) job.inputs.push_back(input::read(transform));
  summary.read_ms = watch.lap();
  job.modules = select_modules(job.inputs, {.target = detail::newest_target(),
                                            .mode = job.modes.back(),
                                            .allow_calls = true,
                                            .whole_archive = arguments.link.options.whole_archive,
                                            .kernels = requested_kernels(arguments)});
}

void open_output(prepared& job, run_arguments const& arguments,
                 std::filesystem::path const& library)
{
  if (arguments.output.empty()) return;
  if (!is_standard_output(arguments.output)) {
    std::vector<std::filesystem::path> files{library, arguments.input};
    files.insert(files.end(), job.transforms.begin(), job.transforms.end());
    must_not_overwrite(files, arguments.output);
  }
  job.output = create_npy(arguments.output, job.elements->size());
}

void summarize(prepared const& job, std::filesystem::path const& library, run_summary& summary)
{
  summary.library = library.stem().string();
  summary.files.push_back(library.string());
  for (auto const& transform : job.transforms) {
    summary.transform += (summary.transform.empty() ? "" : " + ") + transform.stem().string();
    summary.files.push_back(transform.string());
  }
  summary.kernel = job.kernel.name;
  summary.elements = job.elements->size();
}

prepared prepare(run_arguments const& arguments, run_summary& summary)
{
  auto const library = fatbin_or_default(arguments.library, k_shipped_library);
  prepared job;
  for (auto const& transform : arguments.transforms)
    job.transforms.push_back(input_file(transform));
  if (job.transforms.empty()) job.transforms.push_back(fatbin_or_default({}, k_shipped_transform));
  job.modes = parse_modes(arguments.mode);
  job.elements = arguments.input.empty() ? generated_elements(arguments.elements, arguments.seed)
                                         : npy_elements(open_npy(arguments.input));
  read_inputs(job, library, arguments, summary);
  job.kernel = select_kernel(job.modules, arguments.kernel);
  open_output(job, arguments, library);
  summarize(job, library, summary);
  return job;
}

/// Whether `module` is one of `file`.
bool is_of(fatbin const& module, input const& file)
{
  return std::any_of(file.modules().begin(), file.modules().end(), [&](fatbin const& other) {
    return module.bytes().data() == other.bytes().data();
  });
}

/// For each module the file beside which its sidecar is: the transform, if it has no other module.
std::vector<std::filesystem::path> sidecar_owners(prepared const& job)
{
  std::vector<std::filesystem::path> owners(job.modules.size());
  for (std::size_t i = 0; i < job.modules.size(); ++i)
    for (std::size_t file = 1; file < job.inputs.size(); ++file)
      if (job.inputs[file].modules().size() == 1 && is_of(job.modules[i], job.inputs[file]))
        owners[i] = job.transforms[file - 1];
  return owners;
}

/// Called after preflight, whose findings are more precise: a hook that nothing calls may be
/// misspelt.
void set_reference(prepared const& job, run_summary& summary)
{
  auto choice = choose_reference(job.modules, sidecar_owners(job));
  summary.expected = std::move(choice.expected);
  summary.no_reference = std::move(choice.reason);
  summary.filled_hooks = std::move(choice.filled_hooks);
}

/// @throws unavailable_error an input holds SASS only, and the device is the reference device.
void refuse_sass_without_gpu(prepared const& job, run_arguments const& arguments)
{
  std::string reason;
  auto const is_cpu =
      arguments.device.empty() ? list_gpus(reason).empty() : arguments.device.starts_with("cpu");
  auto const needs_sass = job.modes.front() == link_mode::sass;
  auto const is_sass = [](fatbin_entry const& entry) { return entry.kind == entry_kind::elf; };
  for (auto const& module : job.modules)
    if (is_cpu && (needs_sass || std::ranges::all_of(module.entries(), is_sass)))
      throw unavailable_error(
          stage::device,
          {.message =
               needs_sass
                   ? "the reference device runs PTX, not SASS"
                   : fmt::format("{} holds SASS only, which the reference device does not run",
                                 module.name()),
           .input = module.name(),
           .code = error_code::needs_gpu,
           .hint = "run it on a GPU: --device gpu"});
}

preflight_request make_request(link_mode mode, prepared const& job, run_arguments const& arguments)
{
  auto options = arguments.link.options;
  options.mode = mode;
  options.kernels = {job.kernel.name};
  return detail::request_of(options);
}

/// Refuses inputs that link for no target, without a device, so that every machine reports them.
void check_inputs(prepared const& job, run_arguments const& arguments)
{
  for (auto const mode : job.modes)
    if (auto findings = preflight_any_target(job.modules, make_request(mode, job, arguments));
        !findings.empty())
      throw refused_error(std::move(findings));
}

/// Opens the device of --device; without the option a GPU or, if there is none, the reference
/// device, and records why.
std::shared_ptr<device> open_selected(run_arguments const& arguments, run_summary& summary)
{
  auto name = arguments.device;
  if (name.empty()) name = list_gpus(summary.no_gpu_reason).empty() ? "cpu" : "gpu";
  auto opened = open_device(name, arguments.cpu);
  summary.device = opened->info();
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
    summary.images.push_back(linker.link(job.inputs, make_options(mode, arguments, summary)));
    for (auto const& warning : summary.images.back().warnings)
      if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
        warnings.push_back(warning);
  }
  print_warnings(warnings);
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

int run(run_arguments const& arguments)
{
  check_output(arguments.output, arguments.json);
  auto const modes = parse_modes(arguments.mode);
  for (auto const mode : modes)  // PTX for cpu has fewer options than cubins
    (void)arguments.link.for_mode(mode, modes).make_options({}, mode, image_kind::cubin);
  run_summary summary;
  auto job = prepare(arguments, summary);
  refuse_sass_without_gpu(job, arguments);
  check_inputs(job, arguments);
  set_reference(job, summary);
  detail::stopwatch watch;
  auto const device = open_selected(arguments, summary);
  summary.device_ms = watch.lap();
  check_options(job, arguments, summary);
  link_all(job, arguments, summary);

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
  verb->add_option(
          "--input", arguments->input,
          ".npy file with a one-dimensional float32 array to use instead; -: standard input")
      ->excludes(elements);
  verb->add_option(
      "--output", arguments->output,
      ".npy file for the results of the last mode, if they are correct; -: standard output");
  add_count(*verb, "--seed", arguments->seed, {}, "seed of the generated elements");
  add_count(*verb, "--print", arguments->print, {1, k_most_printed},
            "show the first N results with their inputs and expected values")
      ->default_str("");
  add_link_flags(*verb, arguments->link);
  verb->add_flag("--json", arguments->json, k_json_help);
  verb->footer("Example: fatlink run --transform gelu --elements 1000000");
  verb->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace fatlink::cli
