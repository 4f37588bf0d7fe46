// SPDX-License-Identifier: Apache-2.0
// Calls by a launch plan: times of its variants on a GPU, and the speed of the reference device.
// Rounds of the variants are interleaved and medians are taken, so ratios within one run are
// reliable.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/bench.hpp"
#include "error_report.hpp"
#include "fatlink/device.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/prepare.hpp"
#include "installed.hpp"
#include "run/execute_plan.hpp"
#include "run/run_report.hpp"

namespace fatlink::cli {
namespace {

constexpr char const* k_copy = "device-to-device copy";

constexpr char const* k_single_source = "single source";

/// Work that is timed: started once in each round on a stream.
struct variant {
  std::string name = {};
  std::function<void(stream const&)> launch = {};
  std::vector<double> ms = {};  ///< of each round
};

/// A launch's size, in the units of docs/schemas/bench.json.
struct work_size {
  std::size_t elements = 0;
  double bytes = 0;  ///< that a launch reads and writes, the copy too
};

constexpr double k_batch_bytes = 1 << 27;  // of one timed batch, at most
constexpr double k_longest_batch = 20;

void time_rounds(device const& gpu, std::vector<variant>& variants, std::size_t batch,
                 unsigned rounds)
{
  auto const stream = gpu.create_stream();
  auto start = gpu.create_event();
  auto stop = gpu.create_event();
  for (unsigned round = 0; round <= rounds; ++round)
    for (auto& variant : variants) {
      start.record(stream);
      for (std::size_t i = 0; i < batch; ++i) variant.launch(stream);
      stop.record(stream);
      auto const ms = stop.ms_since(start) / static_cast<double>(batch);
      if (round > 0) variant.ms.push_back(ms);  // the first round warms up
    }
}

/// The median time of a variant in milliseconds; 0 if it was not measured.
double median_of(std::vector<variant> const& variants, char const* name)
{
  for (auto const& variant : variants)
    if (variant.name == name) return median(variant.ms);
  return 0;
}

nlohmann::json to_rows(std::vector<variant> const& variants, work_size size)
{
  auto const copy_ms = median_of(variants, k_copy);
  auto const single_ms = median_of(variants, k_single_source);
  auto rows = nlohmann::json::array();
  for (auto const& variant : variants) {
    auto const ms = median(variant.ms);
    rows.push_back({{"variant", variant.name},
                    {"elements", size.elements},
                    {"us", ms * 1e3},
                    {"gb_per_s", size.bytes / ms / 1e6},
                    {"rate_over_copy", copy_ms / ms},
                    {"time_over_single_source",
                     single_ms > 0 ? nlohmann::json(ms / single_ms) : nlohmann::json()}});
  }
  return rows;
}

/// Times the variants, and returns a row for each. Short launches are timed in batches, so that the
/// cost of an event stays small.
nlohmann::json time_variants(device const& gpu, std::vector<variant>& variants, work_size size,
                             unsigned rounds)
{
  auto const batch = std::clamp(k_batch_bytes / std::max(size.bytes, 1.0), 1.0, k_longest_batch);
  time_rounds(gpu, variants, static_cast<std::size_t>(batch), rounds);
  return to_rows(variants, size);
}

/// An image under the name of its variant.
struct bench_image {
  std::string variant;
  std::vector<input> inputs;  ///< from which it was linked
  linked_image image;
};

/// A fatbin that needs no transform, linked without options.
bench_image link_complete(device const& gpu, std::filesystem::path const& file, char const* variant)
{
  std::vector inputs{input::read(file)};
  auto image = linker().link(inputs, gpu.link_options(link_mode::ptx));
  return {variant, std::move(inputs), std::move(image)};
}

/// The inputs of `job`, linked with the options of the bench in each of its modes, and the single
/// source that they are compared with, where there is one.
/// @throws as linker::link.
std::vector<bench_image> link_variants(device const& gpu, bench_job const& job)
{
  std::vector<bench_image> images;
  for (auto const mode : job.modes)
    images.push_back(
        {name_of(mode), job.inputs,
         job.flags.linker().link(job.inputs, job.make_options(gpu.info().target, mode))});
  if (auto const file = job.single_source())
    images.push_back(link_complete(gpu, *file, k_single_source));
  return images;
}

struct named_plan {
  std::string variant;
  prepared_plan code;
};

std::vector<named_plan> load_plans(device const& gpu, bench_job const& job)
{
  std::vector<named_plan> plans;
  for (auto& [variant, inputs, image] : link_variants(gpu, job))
    plans.push_back({variant, prepare(gpu, job.plan, inputs, std::move(image))});
  if (job.single_source() && job.files[1].stem() == k_default_transform) {
    auto plan = job.plan;
    plan.launches.front().kernel = "apply_transform_pointer";
    auto [variant, inputs, image] = link_complete(gpu, bench_fatbin(), "function pointer");
    plans.push_back({variant, prepare(gpu, std::move(plan), inputs, std::move(image))});
  }
  return plans;
}

/// For any of the variants, whose occupancy may differ.
std::size_t scratch_bytes(std::vector<named_plan> const& plans, run_data const& data)
{
  std::size_t bytes = 0;
  for (auto const& plan : plans)
    bytes = std::max(bytes, plan.code.scratch_bytes(size_arguments(data)));
  return bytes;
}

/// Bytes of the inputs and outputs, each read or written once.
std::size_t bytes_of(launch_plan const& plan, plan_extents const& extents)
{
  std::size_t bytes = 0;
  for (auto const& argument : plan.arguments) {
    if (argument.role != argument_role::input && argument.role != argument_role::output) continue;
    auto size = argument.type->size;
    for (auto const extent : extents.arrays.at(argument.name)) size *= extent;
    bytes += size;
  }
  return bytes;
}

nlohmann::json time_plans(device const& gpu, bench_job const& job,
                          std::vector<named_plan> const& plans, std::size_t elements)
{
  auto const& plan = job.plan;
  auto const [data, count] = generate_data(job, plans.front().code, elements);
  auto const extents = plans.front().code.extents(size_arguments(data));
  plan_arrays const arrays(gpu, plan, data, extents);
  auto const scratch = gpu.allocate<std::byte>(scratch_bytes(plans, data));
  auto const bytes = bytes_of(plan, extents);
  auto const copy_source = gpu.allocate<std::byte>(bytes / 2);
  auto const copy_target = gpu.allocate<std::byte>(bytes / 2);
  std::vector<variant> variants;
  variants.push_back(
      {k_copy, [&](auto const& stream) { gpu.copy(copy_target, copy_source, bytes / 2, stream); }});
  for (auto const& [name, code] : plans)
    variants.push_back({name, [call = code.bind(arrays.arguments(), {.address = scratch.address(),
                                                                     .bytes = scratch.size()})](
                                  auto const& stream) { call.run(stream); }});
  return time_variants(gpu, variants, {.elements = count, .bytes = static_cast<double>(bytes)},
                       job.rounds);
}

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

nlohmann::json measure_plan(device const& gpu, bench_job const& job,
                            std::vector<std::size_t> const& elements)
{
  auto const plans = load_plans(gpu, job);
  auto rows = nlohmann::json::array();
  for (auto const count : job.has_free_size() ? elements : std::vector<std::size_t>{0})
    for (auto& row : time_plans(gpu, job, plans, count)) rows.push_back(std::move(row));
  return rows;
}

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
