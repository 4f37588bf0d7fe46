// SPDX-License-Identifier: Apache-2.0
#include "run/run_plan_devices.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "device/on_each_device.hpp"
#include "fatlink/prepare.hpp"
#include "options.hpp"
#include "run/device_links.hpp"
#include "run/execute_plan.hpp"
#include "run/part_results.hpp"
#include "run/plan_job.hpp"
#include "run/plan_split.hpp"
#include "terminal/step_line.hpp"
#include "terminal/streams.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {
namespace {

/// Everything that the threads of the devices share.
struct shared_plan_work {
  prepared_job const& job;
  std::vector<plan_part> const& parts;  ///< of each device
  detail::shared_links& links;
  common_start& start;
};

/// On the thread of device `index`.
std::vector<mode_result> execute_part(device const& destination, std::size_t index,
                                      shared_plan_work const& work)
{
  run_member const member(work.start);
  std::vector<mode_result> results;
  for (auto const mode : work.job.links.modes) {
    auto const image = work.links.get(destination.info(), mode);
    detail::stopwatch watch;
    auto const code = prepare(destination, work.job.plan, work.job.links.inputs, *image);
    auto const load_ms = watch.lap();
    results.push_back(execute_plan(destination, code, work.parts[index].data,
                                   k_unwritten_bytes.at(results.size()),
                                   [&] { work.start.wait(); }));
    results.back().load_ms = load_ms;
  }
  return results;
}

/// Bytes of inputs and outputs for each element of the size that is divided.
double bytes_for_each(std::vector<plan_part> const& parts, devices_run const& run)
{
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].modes.empty()) continue;
    std::size_t bytes = 0;
    for (auto const& [name, array] : parts[i].data.inputs) bytes += array.bytes.size();
    for (auto const& [name, array] : parts[i].modes.front().outputs) bytes += array.bytes.size();
    return static_cast<double>(bytes) / static_cast<double>(run.devices[i].part.count);
  }
  return 0;
}

void describe_plan(devices_run& run, prepared_job const& job, plan_summary const& summary)
{
  run.plan = job.plan.name;
  run.sizes = job.data.sizes;
  run.modes = job.links.modes;
  auto& whole = run.whole;
  whole.read_ms = summary.read_ms;
  whole.compiles = summary.compiles;
  whole.warnings = summary.warnings;
  whole.resources = summary.resources;
  whole.files = summary.files;
  std::vector<std::filesystem::path> const paths(summary.files.begin(), summary.files.end());
  whole.library = paths.front().stem().string();
  for (auto const& transform : std::span(paths).subspan(1))
    whole.transform += (whole.transform.empty() ? "" : " + ") + transform.stem().string();
}

/// The parts of the open devices; those of others have no data.
std::vector<plan_part> parts_for(devices_run const& run, prepared_job& job, plan_split const& split)
{
  std::vector<element_part> lengths;
  for (auto const& device : run.devices)
    if (device.info) lengths.push_back(device.part);
  auto list = divide_data(job.plan, split, job.data, lengths);
  std::vector<plan_part> parts(run.devices.size());
  auto data = list.begin();
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (run.devices[i].info) parts[i].data = std::move(*data++);
  return parts;
}

void execute_parts(opened_devices const& devices, prepared_job const& job,
                   std::vector<plan_part>& parts, detail::shared_links& links, devices_run& run)
{
  step_line const line(fmt::format("running on {} devices", count_open(devices)));
  common_start start(count_open(devices));
  shared_plan_work const work{job, parts, links, start};
  auto results = detail::on_each_device<std::vector<mode_result>>(
      devices, [&](std::shared_ptr<device> const& device, std::size_t index) {
        return execute_part(*device, index, work);
      });
  add_failures(run, results);
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i]) parts[i].modes = std::move(*results[i].value);
}

void write_outputs(prepared_job const& job, plan_split const& split,
                   std::vector<plan_part> const& parts, devices_run const& run)
{
  if (!run.is_complete() || !run.verified()) return;
  for (auto const& [name, file] : job.arguments.outputs) {
    auto const array = whole_output(split, parts, name, run.modes.size() - 1);
    auto const writer = create_npy(file, array.type, array.extents);
    writer->append(array.bytes);
    writer->commit();
  }
}

}  // namespace

int run_plan_on_devices(launch_plan plan, run_arguments const& arguments, device_choice& choice,
                        compile_report& compiles)
{
  if (arguments.compare_cpu)
    fail_usage("--compare-cpu: the results of several devices are not compared with cpu",
               "--compare-cpu", "run it on one GPU: --device gpu:0; or leave out --compare-cpu");
  auto const split = split_of(plan);
  auto job = prepare_job(std::move(plan), arguments, choice, compiles);
  auto const devices = choice.open_all(arguments.cpu);
  devices_run run;
  describe_plan(run, job, summarize(job, arguments, choice, compiles));
  run.whole.device_ms = choice.ms();
  run.whole.elements = static_cast<std::size_t>(job.data.sizes.at(split.size));
  run.devices = divide_among(devices, run.whole.elements);
  for (auto& warning : warn_of_states(job)) run.whole.warnings.push_back(std::move(warning));
  check_options(job.links, devices, arguments.resources);
  auto parts = parts_for(run, job, split);
  auto links = share_links(job.links);
  execute_parts(devices, job, parts, links, run);
  fail_if_shared(run);
  add_images(run, links);
  run.element_bytes = bytes_for_each(parts, run);
  verify_parts(job, split, parts, arguments.print, run);
  write_outputs(job, split, parts, run);
  return report(run, arguments.json);
}

}  // namespace fatlink::cli
