// SPDX-License-Identifier: Apache-2.0
#include "bench/plan_times.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "bench/bench_images.hpp"
#include "bench/variants.hpp"
#include "fatlink/prepare.hpp"
#include "installed.hpp"
#include "run/execute_plan.hpp"

namespace fatlink::cli {
namespace {

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

}  // namespace

bool has_free_size(bench_job const& job)
{
  auto const arguments = match_arguments(job.plan, {.values = job.values});
  return std::ranges::any_of(job.plan.arguments, [&](plan_argument const& argument) {
    return argument.role == argument_role::size && !argument.default_value &&
           !arguments.values.contains(argument.name);
  });
}

bench_data generate_data(bench_job const& job, prepared_plan const& code, std::size_t elements,
                         array_copies copies)
{
  auto const& plan = job.plan;
  auto const arguments = match_arguments(plan, {.values = job.values});
  generated_inputs const generated{.elements = elements, .copies = copies};
  bench_data call{
      .data = read_run_data(detail::plan_formulas(plan), arguments, job.references, generated),
      .elements = elements};
  add_device_inputs(call.data, code, arguments, generated);
  if (has_free_size(job)) return call;
  call.elements = 1;
  for (auto const& [name, array] : call.data.inputs)
    call.elements = std::max(call.elements, array.count());
  return call;
}

nlohmann::json measure_plan(device const& gpu, bench_job const& job,
                            std::vector<std::size_t> const& elements)
{
  auto const plans = load_plans(gpu, job);
  auto rows = nlohmann::json::array();
  for (auto const count : has_free_size(job) ? elements : std::vector<std::size_t>{0})
    for (auto& row : time_plans(gpu, job, plans, count)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace fatlink::cli
