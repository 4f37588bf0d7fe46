// SPDX-License-Identifier: Apache-2.0
#include "bench/plan_times.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "bench/variants.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/prepare.hpp"
#include "run/plan_arrays.hpp"

namespace fatlink::cli {
namespace {

struct named_plan {
  std::string variant;
  prepared_plan code;
};

/// As load_kernels of kernel_times.cpp.
std::vector<named_plan> load_plans(device const& gpu, bench_job const& job)
{
  auto const& plan = job.plan->plan;
  std::vector<named_plan> plans;
  for (auto const mode : job.modes) {
    auto image = job.flags.linker().link(job.inputs, job.make_options(gpu.info().target, mode));
    plans.push_back({variant_of(mode), prepare(gpu, plan, job.inputs, std::move(image))});
  }
  if (auto const file = job.single_source()) {
    std::vector<input> const single{input::read(*file)};
    auto image = linker().link(single, gpu.link_options(link_mode::ptx));
    plans.push_back({k_single_source, prepare(gpu, plan, single, std::move(image))});
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

nlohmann::json measure(device const& gpu, bench_job const& job,
                       std::vector<named_plan> const& plans, std::size_t elements)
{
  auto const& plan = job.plan->plan;
  auto const data = generate_data(job, elements, plans.front().code);
  auto const extents = plans.front().code.extents(size_arguments(data));
  plan_arrays const arrays(gpu, plan, data, extents);
  auto const scratch = gpu.allocate<std::byte>(scratch_bytes(plans, data));
  auto const bytes = bytes_of(plan, extents);
  auto const from = gpu.allocate<std::byte>(bytes / 2);
  auto const to = gpu.allocate<std::byte>(bytes / 2);
  std::vector<variant> variants;
  variants.push_back({k_copy, [&](auto const& stream) { gpu.copy(to, from, bytes / 2, stream); }});
  for (auto const& [name, code] : plans)
    variants.push_back({name, [call = code.bind(arrays.arguments(), {.address = scratch.address(),
                                                                     .bytes = scratch.size()})](
                                  auto const& stream) { call.run(stream); }});
  return time_variants(gpu, variants, {.elements = elements, .bytes = static_cast<double>(bytes)},
                       job.rounds);
}

}  // namespace

run_data generate_data(bench_job const& job, std::size_t elements, prepared_plan const& code)
{
  auto const arguments = match_arguments(job.plan->plan, {.values = job.values});
  generated_inputs const generated{.elements = elements};
  auto data = read_run_data(detail::plan_formulas(job.plan->plan), arguments, job.plan->references,
                            generated);
  add_device_inputs(data, code, arguments, generated);
  return data;
}

nlohmann::json measure_plan(device const& gpu, bench_job const& job,
                            std::vector<std::size_t> const& elements)
{
  auto const plans = load_plans(gpu, job);
  auto rows = nlohmann::json::array();
  for (auto const count : elements)
    for (auto& row : measure(gpu, job, plans, count)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace fatlink::cli
