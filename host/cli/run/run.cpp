// SPDX-License-Identifier: Apache-2.0
// fatlink run: the main job. Everything that can be wrong with the arguments and the files is
// found before the device is opened.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "installed.hpp"
#include "link_flags.hpp"
#include "options.hpp"
#include "run/run_kernel.hpp"
#include "run/run_reference.hpp"
#include "run/run_report.hpp"
#include "terminal/progress.hpp"
#include "terminal/streams.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

constexpr std::size_t k_most_elements = std::size_t{1} << 40;
constexpr std::size_t k_most_printed = std::size_t{1} << 20;

struct arguments {
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
  link_settings link;
  bool json = false;
};

/// Everything read and checked that needs no device.
struct prepared {
  std::vector<fatbin> inputs;
  run_kernel kernel;
  std::vector<std::filesystem::path> transforms;
  std::unique_ptr<element_source> elements;
  std::unique_ptr<npy_writer> output;
  std::vector<link_mode> modes;
};

std::vector<link_mode> modes_of(std::string const& text)
{
  if (text == "both") return {link_mode::ptx, link_mode::lto};
  return {parse_link_mode(text)};
}

prepared prepare(arguments const& given, run_summary& summary)
{
  auto const library = fatbin_or_default(given.library, k_shipped_library);
  prepared ready;
  auto& transforms = ready.transforms;
  for (auto const& transform : given.transforms) transforms.push_back(fatbin_file(transform));
  if (transforms.empty()) transforms.push_back(fatbin_or_default({}, k_shipped_transform));
  ready.modes = modes_of(given.mode);
  ready.elements = given.input.empty() ? generated_elements(given.elements, given.seed)
                                       : npy_elements(open_npy(given.input));
  auto const start = std::chrono::steady_clock::now();
  ready.inputs = {fatbin::read(library)};
  for (auto const& transform : transforms) ready.inputs.push_back(fatbin::read(transform));
  summary.read_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  ready.kernel = select_kernel(ready.inputs, given.kernel);
  for (auto const& transform : transforms) {
    summary.transform += (summary.transform.empty() ? "" : " + ") + transform.stem().string();
    summary.files.push_back(transform.string());
  }
  if (!given.output.empty() && !is_standard_output(given.output)) {
    std::vector<std::filesystem::path> files{library, given.input};
    files.insert(files.end(), transforms.begin(), transforms.end());
    must_not_overwrite(files, given.output);
  }
  if (!given.output.empty()) ready.output = create_npy(given.output, ready.elements->size());
  summary.files.insert(summary.files.begin(), library.string());
  summary.library = library.stem().string();
  summary.kernel = ready.kernel.name;
  summary.elements = ready.elements->size();
  return ready;
}

/// After preflight, whose findings are more exact: a hook that nothing calls may be misspelt.
void set_reference(prepared const& ready, run_summary& summary)
{
  auto choice = choose_reference(ready.inputs, ready.transforms);
  summary.expected = std::move(choice.expected);
  summary.no_reference = std::move(choice.reason);
  summary.filled_hooks = std::move(choice.filled_hooks);
}

/// What no target can mend is refused without a device, so that it is said on any machine.
void check_inputs(prepared const& ready)
{
  for (auto const mode : ready.modes)
    if (auto findings = preflight_any_target(ready.inputs, mode, ready.kernel.name);
        !findings.empty())
      throw refused_error(std::move(findings));
}

/// The device asked for. Where none was, a GPU, or else the reference device, and why.
std::shared_ptr<device> open_chosen(arguments const& given, run_summary& summary)
{
  auto name = given.device;
  if (name.empty()) name = list_gpus(summary.no_gpu_reason).empty() ? "cpu" : "gpu";
  auto opened = open_device(name, given.cpu);
  summary.device = opened->info();
  return opened;
}

void link_all(prepared const& ready, arguments const& given, run_summary& summary)
{
  auto with = given.link.linker();
  std::vector<std::string> said;
  for (auto const mode : ready.modes) {
    summary.images.push_back(with.link(
        ready.inputs, {.target = summary.device.target,
                       .mode = mode,
                       .emit = summary.device.image_for(mode),
                       .kernel = ready.kernel.name,
                       .require_inlined = given.link.require_inlined && mode == link_mode::lto}));
    for (auto const& warning : summary.images.back().warnings)
      if (std::find(said.begin(), said.end(), warning) == said.end()) said.push_back(warning);
  }
  print_warnings(said);
}

/// The progress line is erased when this returns, so results start on a line of their own.
void execute_all(device const& on, prepared const& ready, arguments const& given,
                 run_summary& summary)
{
  progress line;
  summary.results =
      execute(on, summary.images, *ready.elements,
              {.kernel = ready.kernel.name,
               .reference = summary.expected,
               .output = ready.output.get(),
               .progress = [&](char const* doing, double part) { line.show(doing, part); },
               .block = ready.kernel.block,
               .elements_per_thread = ready.kernel.elements_per_thread,
               .first_results = given.print});
}

int run(arguments const& given)
{
  check_output(given.output, given.json);
  run_summary summary;
  auto ready = prepare(given, summary);
  check_inputs(ready);
  set_reference(ready, summary);
  auto const start = std::chrono::steady_clock::now();
  auto const on = open_chosen(given, summary);
  summary.device_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  link_all(ready, given, summary);

  execute_all(*on, ready, given, summary);
  if (ready.output && summary.verified()) ready.output->commit();
  if (given.json)
    print_json("fatlink.run/1", to_json(summary));
  else
    print_text(summary);
  std::fflush(stdout);  // closing the device takes a while
  return summary.verified() ? k_done : k_not_verified;
}

}  // namespace

void add_run(CLI::App& app, int& exit_status)
{
  auto given = std::make_shared<arguments>();
  auto* verb = app.add_subcommand("run", "Link in both modes, execute, verify. The main job.");
  verb->add_option("--library", given->library,
                   "name or fatbin with the kernel (default: apply_transform)");
  verb->add_option(
          "--transform", given->transforms,
          "name or fatbin that fills its hook (default: relu_poly); again for several hooks")
      ->allow_extra_args(false);
  verb->add_option("--kernel", given->kernel,
                   "kernel to execute, of parameters (const float*, float*, size_t) (default: "
                   "apply_transform, or the library's only kernel)");
  add_choice(*verb, "--mode", given->mode, {"ptx", "lto", "both"}, "ptx, lto or both");
  verb->add_option("--device", given->device,
                   "gpu, gpu:N, or cpu, the reference device (default: gpu, or cpu where there is "
                   "none); cpu:sm_80 links for another target than sm_90")
      ->each(check_device);
  add_count(*verb, "--instruction-budget", given->cpu.instruction_budget, {},
            "on cpu: how many instructions a warp may execute; 0: any number");
  verb->add_flag("--check-races", given->cpu.check_races,
                 "on cpu: two threads writing one address is an error");
  auto* elements = add_count(*verb, "--elements", given->elements, {1, k_most_elements},
                             "how many to generate, as 65536, 1e6, 1.5M or 64Ki");
  verb->add_option("--input", given->input,
                   ".npy of float32, one dimension, instead; -: standard input")
      ->excludes(elements);
  verb->add_option(
      "--output", given->output,
      ".npy for the last mode's results, written once they verify; -: standard output");
  add_count(*verb, "--seed", given->seed, {}, "of the generated elements");
  add_count(*verb, "--print", given->print, {1, k_most_printed},
            "show the first N results, with their inputs and expected values")
      ->default_str("");
  add_link_settings(*verb, given->link);
  verb->add_flag("--json", given->json, "one JSON object on standard output");
  verb->footer("Example: fatlink run --transform gelu --elements 1000000");
  verb->callback([given, &exit_status] { exit_status = run(*given); });
}

}  // namespace fatlink::cli
