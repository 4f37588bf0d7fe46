// SPDX-License-Identifier: Apache-2.0
#include "bench/reference_device_rate.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/median.hpp"
#include "bench/plan_times.hpp"
#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/prepare.hpp"
#include "run/execute_plan.hpp"

namespace fatlink::cli {
namespace {

constexpr std::size_t k_count = std::size_t{1} << 20;

/// A launch on a stream, and the memory that it uses.
struct measured_launch {
  std::function<void(stream const&)> start;
  std::size_t elements = 0;
};

measured_launch make_launch(device const& cpu, linked_image const& image, bench_job const& job)
{
  auto const code = prepare(cpu, job.plan, job.inputs, image);
  auto call = generate_data(job, code, k_count, {.on_host = true});
  auto const data = std::make_shared<run_data>(std::move(call.data));
  auto const extents = std::make_shared<plan_extents>(code.extents(size_arguments(*data)));
  auto const arrays = std::make_shared<plan_arrays>(cpu, job.plan, *data, *extents);
  auto const start = [=](stream const& stream) {
    (void)data, (void)extents;  // which the arrays refer to
    code.run(stream, arrays->arguments());
  };
  return {start, call.elements};
}

/// Instructions per second of each round; the first, which warms up, is left out.
std::vector<double> measure_rates(device& cpu, measured_launch const& launch, unsigned rounds)
{
  auto const stream = cpu.create_stream();
  std::vector<double> rates;
  for (unsigned round = 0; round <= rounds; ++round) {
    auto start = cpu.create_event();
    auto stop = cpu.create_event();
    auto const instructions_before = cpu.instructions();
    start.record(stream);
    launch.start(stream);
    stop.record(stream);
    auto const executed = static_cast<double>(cpu.instructions() - instructions_before);
    if (round > 0) rates.push_back(executed / stop.ms_since(start) * 1e3);
  }
  return rates;
}

/// The link for the device in `mode`; nothing, and the `cause`, if it is refused.
std::optional<linked_image> try_link(device const& cpu, bench_job const& job, link_mode mode,
                                     std::string& cause)
try {
  auto options = cpu.link_options(mode);
  options.whole_archive = job.flags.options.whole_archive;
  return job.flags.linker().link(job.inputs, options);
} catch (refused_error const& failure) {
  cause = failure.what();
  return std::nullopt;
} catch (unavailable_error const& failure) {
  if (failure.details().code != error_code::needs_gpu) throw;
  cause = failure.what();
  return std::nullopt;
}

/// The lto link for the device, or else the ptx link; nothing, with a warning that states the
/// cause, if both are refused.
std::optional<linked_image> link_for(device const& cpu, bench_job const& job)
{
  std::string cause;
  for (auto const mode : {link_mode::lto, link_mode::ptx})
    if (auto image = try_link(cpu, job, mode, cause)) return image;
  print_warnings({fmt::format("the reference device is skipped: {}", cause)});
  return std::nullopt;
}

}  // namespace

nlohmann::json measure_reference_device(bench_job const& job)
{
  auto const cpu = open_device("cpu");
  auto const image = link_for(*cpu, job);
  if (!image) return nullptr;
  auto const launch = make_launch(*cpu, *image, job);
  auto const cores = cpu->info().multiprocessors;
  auto const rate = median(measure_rates(*cpu, launch, job.rounds)) / cores;
  auto const instructions_per_element = static_cast<double>(cpu->instructions()) /
                                        (static_cast<double>(launch.elements) * (job.rounds + 1));
  return {{"mode", to_string(image->mode)},
          {"elements", launch.elements},
          {"cores", cores},
          {"instructions_per_s_and_core", rate},
          {"elements_per_s_and_core", rate / instructions_per_element}};
}

}  // namespace fatlink::cli
