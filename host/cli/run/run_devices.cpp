// SPDX-License-Identifier: Apache-2.0
#include "run/run_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/on_each_device.hpp"
#include "run/device_links.hpp"
#include "run/devices_run.hpp"
#include "run/write_order.hpp"
#include "terminal/step_line.hpp"

namespace fatlink::cli {
namespace {

using device_reports = std::vector<device_result<execution_report>>;

/// Everything that the threads of the devices share.
struct shared_work {
  elementwise_job const& job;
  devices_run const& run;
  detail::shared_links& links;
  common_start& start;
  write_order& order;
  std::size_t printed;
};

/// On the thread of device `index`.
execution_report execute_part(device const& destination, std::size_t index, shared_work const& work)
{
  run_member const member(work.start);
  write_turn turn(work.order, index);
  auto const& part = work.run.devices[index].part;
  std::vector<linked_image> images;
  for (auto const mode : work.run.modes)
    images.push_back(*work.links.get(destination.info(), mode));
  auto request = execution_request_of(work.job, work.run.whole);
  request.first_results = work.printed - std::min(work.printed, part.first);
  request.before_launch = [&] { work.start.wait(); };
  request.before_results = [&] {
    if (work.job.output) turn.wait();
  };
  return execute(destination, images, *part_of(*work.job.elements, part), request);
}

/// `result` of a part that begins with element `first` of the whole.
verification moved(verification result, std::size_t first)
{
  result.first_failure += first;
  return result;
}

/// Adds the comparison of two modes on one device to that of all.
void add_agreement(run_summary& whole, execution_report const& part, std::size_t first)
{
  if (!part.between) return;
  auto& between = whole.results.between;
  if (!between) between.emplace();
  *between += moved(*part.between, first);
}

std::vector<mode_on_device> modes_of(execution_report const& part, std::size_t first,
                                     bool has_reference)
{
  std::vector<mode_on_device> modes;
  for (auto const& image : part.images) {
    mode_on_device mode{
        .load_ms = image.load_ms, .run_ms = image.run_ms, .measured = image.measured};
    if (has_reference) mode.against_reference = moved(image.against_reference, first);
    modes.push_back(std::move(mode));
  }
  return modes;
}

void add_first_results(devices_run& run, execution_report const& part, std::size_t first)
{
  for (std::size_t i = 0; i < part.first_results.size(); ++i) {
    auto const& result = part.first_results[i];
    nlohmann::json row{{"index", std::to_string(first + i)},
                       {"input", fmt::format("{:.9g}", result.input)}};
    for (std::size_t k = 0; k < result.actual.size(); ++k)
      row[to_string(run.modes[k])] = fmt::format("{:.9g}", result.actual[k]);
    if (result.expected) row["expected"] = fmt::format("{:.9g}", *result.expected);
    run.first_results.push_back(std::move(row));
  }
}

void collect(devices_run& run, device_reports const& reports)
{
  add_failures(run, reports);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!reports[i]) continue;
    auto& row = run.devices[i];
    auto const& part = *reports[i].value;
    row.modes = modes_of(part, row.part.first, run.whole.expected.has_value());
    add_agreement(run.whole, part, row.part.first);
    add_first_results(run, part, row.part.first);
  }
}

devices_run describe_job(elementwise_job const& job, run_summary const& summary,
                         opened_devices const& devices, device_choice const& choice)
{
  devices_run run{.whole = summary, .element_bytes = 2 * sizeof(float), .modes = job.links.modes};
  run.whole.device_ms = choice.ms();
  run.devices = divide_among(devices, job.elements->size());
  return run;
}

}  // namespace

int run_on_devices(elementwise_job const& job, device_choice& choice,
                   run_arguments const& arguments, run_summary const& summary)
{
  auto const devices = choice.open_all(arguments.cpu);
  auto run = describe_job(job, summary, devices, choice);
  check_options(job.links, devices, arguments.resources);
  auto links = share_links(job.links);
  common_start start(count_open(devices));
  write_order order(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (!devices[i]) order.finish(i);
  shared_work const work{job, run, links, start, order, arguments.print};
  {
    step_line const line(fmt::format("running on {} devices", count_open(devices)));
    collect(run, detail::on_each_device<execution_report>(
                     devices, [&](std::shared_ptr<device> const& device, std::size_t index) {
                       return execute_part(*device, index, work);
                     }));
  }
  fail_if_shared(run);
  add_images(run, links);
  if (job.output && run.is_complete() && run.verified()) job.output->commit();
  return report(run, arguments.json);
}

}  // namespace fatlink::cli
