// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "fatlink/preflight.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "plan/check_plan.hpp"
#include "preflight/symbols.hpp"
#include "run/implied_plan.hpp"
#include "run/run_job.hpp"
#include "run/run_links.hpp"
#include "source_inputs.hpp"

namespace fatlink::cli {

namespace {

bool is_shipped(std::filesystem::path const& file)
{
  std::error_code error;
  return std::filesystem::equivalent(file.parent_path(), installed_data_folder(), error);
}

/// @throws usage_error --kernel: the plan names its kernels.
void refuse_kernels(launch_plan const& plan, std::vector<std::string> const& kernels)
{
  if (kernels.empty()) return;
  fail_usage(fmt::format("--kernel {}: the launch plan of {} names its kernels", kernels.front(),
                         plan.name),
             kernels.front(), "leave out --kernel");
}

run_data generate_data(bench_job const& job, prepared_plan const& code,
                       generated_inputs const& generated)
{
  auto const arguments = match_arguments(job.plan, {.values = job.values});
  auto data = read_run_data(detail::plan_formulas(job.plan), arguments, job.references, generated);
  add_device_inputs(data, code, arguments, generated);
  return data;
}

/// Its elements; at least 1.
std::size_t largest_input(run_data const& data)
{
  std::size_t most = 1;
  for (auto const& [name, array] : data.inputs) most = std::max(most, array.count());
  return most;
}

}  // namespace

std::optional<std::filesystem::path> bench_job::single_source() const
{
  if (!std::ranges::all_of(files, is_shipped)) return std::nullopt;
  std::string stems;
  for (auto const& file : files) stems += (stems.empty() ? "" : "+") + file.stem().string();
  auto path = installed_data_folder() / "bench" / (stems + ".fatbin");
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

bool bench_job::has_free_size() const
{
  auto const arguments = match_arguments(plan, {.values = values});
  return std::ranges::any_of(plan.arguments, [&](plan_argument const& argument) {
    return argument.role == argument_role::size && !argument.default_value &&
           !arguments.values.contains(argument.name);
  });
}

std::vector<fatbin> bench_job::modules(target target) const
{
  return select_modules(inputs, {.target = target,
                                 .mode = modes.back(),
                                 .allow_calls = flags.options.allow_calls,
                                 .whole_archive = flags.options.whole_archive,
                                 .kernels = flags.options.kernels});
}

link_options bench_job::make_options(target target, link_mode mode) const
{
  auto of_mode = flags;
  of_mode.require_inlined = flags.require_inlined && mode == link_mode::lto;
  return of_mode.make_options(target, mode, image_kind::cubin);
}

bench_job read_job(std::string const& name, std::vector<std::string> const& transforms,
                   std::string const& mode, std::vector<std::string> const& values,
                   link_flags flags)
{
  auto const library = library_for(name, transforms, flags.sources.options.contract);
  auto shipped = read_library(library);
  auto& plan = shipped.plan;
  auto const is_implied = shipped.is_implied;
  if (!is_implied) {
    refuse_kernels(plan, flags.options.kernels);
    flags.options.kernels = plan.kernels();
  }
  (void)match_arguments(plan, {.values = values});
  bench_job job;
  job.is_implied = is_implied;
  job.values = values;
  job.modes = parse_modes(mode);
  job.flags = std::move(flags);
  for (auto const link_mode : job.modes) (void)job.make_options({}, link_mode);
  job.files = find_files(shipped, transforms);
  job.inputs = read_inputs(job.files, job.flags.source_flags(), nullptr, std::move(shipped.code));
  if (!is_implied) job.flags.options.kernels = detail::kernels_to_keep(plan, job.inputs);
  auto const modules = job.modules(detail::newest_target());
  auto const& kernels = job.flags.options.kernels;
  if (is_implied) add_launch(plan, modules, kernels.empty() ? std::string() : kernels.front(), 1);
  if (is_implied && !kernels.empty())  // --kernel may name one that no input has
    check_inputs({.inputs = job.inputs,
                  .modules = modules,
                  .modes = job.modes,
                  .launched = plan.kernels(),
                  .flags = job.flags});
  auto bound = bind_plan(std::move(plan), job.inputs, modules);
  job.plan = std::move(bound.plan);
  job.references = std::move(bound.references);
  return job;
}

bench_call::bench_call(bench_job const& job, device const& destination, prepared_plan const& code,
                       std::size_t count, array_copies copies)
    : data(generate_data(job, code, {.elements = count, .copies = copies})),
      elements(job.has_free_size() ? count : largest_input(data)),
      extents(code.extents(size_arguments(data.sizes))),
      arrays(destination, job.plan, data, extents)
{
}

double median(std::vector<double> values)
{
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace fatlink::cli
