// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.hpp"

// Calls by a launch plan: times of its variants on a GPU, and the speed of the reference device.
// Rounds of the variants are interleaved and medians are taken, so ratios within one run are
// reliable.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/prepare.hpp"
#include "installed.hpp"
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

struct named_plan {
  std::string variant;
  prepared_plan code;
};

/// Of a fatbin that needs no transform, linked without options. It has no hook that the plan could
/// name.
named_plan load_complete(device const& gpu, launch_plan plan, std::filesystem::path const& file,
                         char const* variant)
{
  plan.results.clear();
  for (auto& argument : plan.arguments) argument.hook.clear();
  std::vector const inputs{input::read(file)};
  auto image = linker().link(inputs, gpu.link_options(link_mode::ptx));
  return {variant, prepare(gpu, std::move(plan), inputs, std::move(image))};
}

/// The inputs of `job`, linked with the options of the bench in each of its modes, and what they
/// are compared with, where there is any.
/// @throws as linker::link.
std::vector<named_plan> load_plans(device const& gpu, bench_job const& job)
{
  std::vector<named_plan> plans;
  for (auto const mode : job.modes) {
    auto image = job.flags.linker().link(job.inputs, job.make_options(gpu.info().target, mode));
    plans.push_back({name_of(mode), prepare(gpu, job.plan, job.inputs, std::move(image))});
  }
  auto const single_source = job.single_source();
  if (!single_source) return plans;
  plans.push_back(load_complete(gpu, job.plan, *single_source, k_single_source));
  if (job.files[1].stem() != k_default_transform) return plans;
  auto plan = job.plan;
  plan.launches.front().kernel = "apply_transform_pointer";
  plans.push_back(load_complete(gpu, std::move(plan), bench_fatbin(), "function pointer"));
  return plans;
}

/// For any of the variants, whose occupancy may differ.
std::size_t scratch_bytes(std::vector<named_plan> const& plans, run_data const& data)
{
  std::size_t bytes = 0;
  for (auto const& plan : plans)
    bytes = std::max(bytes, plan.code.scratch_bytes(size_arguments(data.sizes)));
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
  bench_call const generated(job, gpu, plans.front().code, elements);
  auto const scratch = gpu.allocate<std::byte>(scratch_bytes(plans, generated.data));
  auto const bytes = bytes_of(job.plan, generated.extents);
  auto const copy_source = gpu.allocate<std::byte>(bytes / 2);
  auto const copy_target = gpu.allocate<std::byte>(bytes / 2);
  std::vector<variant> variants;
  variants.push_back(
      {k_copy, [&](auto const& stream) { gpu.copy(copy_target, copy_source, bytes / 2, stream); }});
  for (auto const& [name, code] : plans)
    variants.push_back(
        {name, [call = code.bind(generated.arrays.arguments(),
                                 {.address = scratch.address(), .bytes = scratch.size()})](
                   auto const& stream) { call.run(stream); }});
  return time_variants(gpu, variants,
                       {.elements = generated.elements, .bytes = static_cast<double>(bytes)},
                       job.rounds);
}

constexpr std::size_t k_count = std::size_t{1} << 20;

/// Instructions per second of each round; the first, which warms up, is left out.
std::vector<double> measure_rates(device& cpu, prepared_plan const& code, bench_call const& call,
                                  unsigned rounds)
{
  auto const stream = cpu.create_stream();
  auto const arguments = call.arrays.arguments();
  std::vector<double> rates;
  for (unsigned round = 0; round <= rounds; ++round) {
    auto start = cpu.create_event();
    auto stop = cpu.create_event();
    auto const instructions_before = cpu.instructions();
    start.record(stream);
    code.run(stream, arguments);
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
  auto const code = prepare(*cpu, job.plan, job.inputs, *image);
  bench_call const call(job, *cpu, code, k_count, {.on_host = true});
  auto const cores = cpu->info().multiprocessors;
  auto const rate = median(measure_rates(*cpu, code, call, job.rounds)) / cores;
  auto const instructions_per_element = static_cast<double>(cpu->instructions()) /
                                        (static_cast<double>(call.elements) * (job.rounds + 1));
  return {{"mode", to_string(image->mode)},
          {"elements", call.elements},
          {"cores", cores},
          {"instructions_per_s_and_core", rate},
          {"elements_per_s_and_core", rate / instructions_per_element}};
}

}  // namespace fatlink::cli
