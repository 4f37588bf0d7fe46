// SPDX-License-Identifier: Apache-2.0
#include "run/run_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compile/source_inputs.hpp"
#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/prepare.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "plan/bind_types.hpp"
#include "plan/check_plan.hpp"
#include "preflight/interface_queries.hpp"
#include "run/device_choice.hpp"
#include "run/plan_report.hpp"
#include "terminal/streams.hpp"
#include "util/process/stopwatch.hpp"
#include "verification/plan_reference.hpp"

namespace fatlink::cli {
namespace {

/// Everything that is known before a device is opened.
struct prepared_job {
  launch_plan plan = {};
  std::vector<input> inputs = {};
  std::vector<fatbin> modules = {};
  std::vector<transform_reference> transforms = {};  ///< those of the library last
  plan_arguments arguments = {};
  run_data data = {};
};

std::vector<fatbin> modules_of(std::vector<input> const& inputs)
{
  std::vector<fatbin> modules;
  for (auto const& file : inputs)
    modules.insert(modules.end(), file.modules().begin(), file.modules().end());
  return modules;
}

std::vector<transform_reference> references_of(std::vector<std::filesystem::path> const& paths)
{
  std::vector<transform_reference> references;
  for (std::size_t i = 1; i <= paths.size(); ++i)  // the library last
    if (auto stated = transform_reference::beside(paths[i % paths.size()]))
      references.push_back(std::move(*stated));
  return references;
}

/// Of the idents, and where they state none, of the sidecars.
detail::hook_elements elements_of(std::span<fatbin const> modules,
                                  std::vector<transform_reference> const& transforms)
{
  auto elements = detail::elements_of(modules);
  for (auto const& transform : transforms)
    if (transform.types.element)
      for (auto const& hook : transform.hooks) {
        auto const place = elements.find(hook.hook);
        // A struct whose fields only the sidecar knows.
        if (place == elements.end() || (place->second.kind == scalar_kind::bytes &&
                                        place->second.size == transform.types.element->size))
          elements.insert_or_assign(hook.hook, *transform.types.element);
      }
  return elements;
}

prepared_job prepare_job(launch_plan plan, plan_job const& job)
{
  prepared_job prepared{.arguments = match_arguments(plan, job.texts)};
  prepared.inputs = read_inputs(job.paths, job.link.source_flags());
  prepared.modules = modules_of(prepared.inputs);
  prepared.transforms = references_of(job.paths);
  prepared.plan =
      detail::bind_types(std::move(plan), elements_of(prepared.modules, prepared.transforms));
  if (auto findings = detail::check_plan(prepared.plan, prepared.modules); !findings.empty())
    throw refused_error(std::move(findings), fmt::format("run plan {}", prepared.plan.name));
  detail::require_types(prepared.plan);
  prepared.data = read_run_data(detail::plan_formulas(prepared.plan), prepared.arguments,
                                prepared.transforms, job.generated);
  return prepared;
}

std::vector<std::string> kernels_of(launch_plan const& plan)
{
  std::vector<std::string> kernels;
  for (auto const& launch : plan.launches)
    if (std::ranges::find(kernels, launch.kernel) == kernels.end())
      kernels.push_back(launch.kernel);
  return kernels;
}

/// The device's copies of what a run reads and writes.
class device_arrays {
 public:
  device_arrays(device const& destination, prepared_plan const& code, prepared_job const& job)
  {
    for (auto const& [name, array] : job.data.inputs) upload(destination, name, array.bytes);
    for (auto const& [name, bytes] : job.data.states)
      if (!bytes.empty()) upload(destination, name, bytes);
    (void)code;
  }

  void add_output(device const& destination, std::string const& name, std::size_t bytes)
  {
    auto const place =
        buffers_.insert_or_assign(name, destination.allocate<std::byte>(bytes)).first;
    place->second.fill(std::byte{0xFF});  // NaN, so that elements that are not written show
  }

  [[nodiscard]] device_buffer<std::byte> const* find(std::string const& name) const
  {
    auto const place = buffers_.find(name);
    return place == buffers_.end() ? nullptr : &place->second;
  }

 private:
  void upload(device const& destination, std::string const& name,
              std::vector<std::byte> const& bytes)
  {
    auto buffer = destination.allocate<std::byte>(bytes.size());
    buffer.write(bytes);
    buffers_.insert_or_assign(name, std::move(buffer));
  }

  std::map<std::string, device_buffer<std::byte>> buffers_;
};

std::vector<call_argument> call_arguments(prepared_job const& job, device_arrays const& arrays)
{
  std::vector<call_argument> arguments;
  for (auto const& argument : job.plan.arguments) {
    if (auto const* const buffer = arrays.find(argument.name))
      arguments.emplace_back(argument.name, reinterpret_cast<void*>(buffer->address()));
    else if (argument.role == argument_role::size)
      arguments.emplace_back(argument.name, job.data.sizes.at(argument.name));
    else if (argument.role == argument_role::value)
      arguments.push_back(call_argument::of_bytes(argument.name, *argument.type,
                                                  job.data.values.at(argument.name).bytes));
  }
  return arguments;
}

/// The extents of the outputs, from the plan.
std::map<std::string, std::vector<std::size_t>> output_extents(prepared_job const& job,
                                                               device_info const& info)
{
  detail::plan_formulas const formulas(job.plan);
  std::vector<std::int64_t> sizes;
  for (auto const index : formulas.sizes)
    sizes.push_back(job.data.sizes.at(job.plan.arguments[index].name));
  auto const values = detail::compute_values(
      formulas, sizes,
      {.multiprocessors = info.multiprocessors, .occupancy = [](auto const&...) { return 1; }});
  std::map<std::string, std::vector<std::size_t>> extents;
  for (std::size_t i = 0; i < job.plan.arguments.size(); ++i)
    if (job.plan.arguments[i].role == argument_role::output)
      extents[job.plan.arguments[i].name] = values.extents[i];
  return extents;
}

std::size_t count_of(std::vector<std::size_t> const& extents)
{
  std::size_t count = 1;
  for (auto const extent : extents) count *= extent;
  return count;
}

/// Runs one image; returns what it wrote.
mode_result run_image(device const& destination, prepared_job const& job, linked_image image)
{
  mode_result result{.image = image};
  auto const code = prepare(destination, job.plan, job.inputs, std::move(image));
  device_arrays arrays(destination, code, job);
  auto const extents = output_extents(job, destination.info());
  for (auto const& [name, extent] : extents)
    arrays.add_output(destination, name, count_of(extent) * job.plan.find(name)->type->size);
  auto stream = destination.create_stream();
  auto start = destination.create_event();
  auto stop = destination.create_event();
  start.record(stream);
  code.run(stream, call_arguments(job, arrays));
  stop.record(stream);
  stream.synchronize();
  result.run_ms = stop.ms_since(start);
  for (auto const& [name, extent] : extents) {
    host_array array{.type = *job.plan.find(name)->type, .extents = extent};
    array.bytes.resize(arrays.find(name)->size());
    arrays.find(name)->read(array.bytes);
    result.outputs[name] = std::move(array);
  }
  return result;
}

/// The references with the states of this run instead of their defaults.
std::vector<transform_reference> with_states(prepared_job const& job)
{
  auto transforms = job.transforms;
  for (auto const& argument : job.plan.arguments) {
    if (argument.role != argument_role::state) continue;
    auto const* const owner = owner_of(argument, job.transforms);
    if (owner == nullptr) continue;
    auto const& bytes = job.data.states.at(argument.name);
    auto& types = transforms[static_cast<std::size_t>(owner - job.transforms.data())].types;
    if (bytes.size() == types.default_state.size()) types.default_state = bytes;
  }
  return transforms;
}

plan_reference reference_of(prepared_job const& job, std::map<std::string, host_array> const& sizes)
{
  plan_data data;
  for (auto const& [name, array] : job.data.inputs) data.arguments[name] = array.view();
  for (auto const& [name, value] : job.data.values) data.arguments[name] = value.view();
  for (auto const& [name, value] : sizes) data.arguments[name] = value.view();
  return {job.plan, with_states(job), std::move(data)};
}

std::map<std::string, host_array> sizes_as_arrays(prepared_job const& job)
{
  std::map<std::string, host_array> arrays;
  for (auto const& [name, size] : job.data.sizes) {
    host_array array{.type = scalar_type(scalar_kind::int64)};
    auto const bytes = std::as_bytes(std::span(&size, 1));
    array.bytes.assign(bytes.begin(), bytes.end());
    arrays[name] = std::move(array);
  }
  return arrays;
}

host_array read_expected(std::string const& file)
{
  auto const source = npy_elements(open_npy(file));
  host_array array{.type = source->type(), .extents = source->extents()};
  array.bytes.resize(source->size() * array.type.size);
  source->fill(0, array.bytes);
  return array;
}

void verify(prepared_job const& job, plan_summary& summary, std::size_t print)
{
  auto const sizes = sizes_as_arrays(job);
  auto const reference = reference_of(job, sizes);
  for (auto& mode : summary.modes)
    for (auto const& [name, array] : mode.outputs) {
      mode.verifications[name] = reference.verify(name, array.view());
      if (auto const file = job.arguments.expected.find(name); file != job.arguments.expected.end())
        mode.expectations[name] =
            compare_outputs(read_expected(file->second).view(), array.view(), {});
    }
  if (summary.modes.size() == 2)
    for (auto const& [name, array] : summary.modes[0].outputs)
      summary.between[name] =
          reference.verify_between(name, array.view(), summary.modes[1].outputs.at(name).view());
  if (print != 0)
    for (auto const& [name, array] : summary.modes.front().outputs)
      summary.expected_text[name] = reference.expected_text(name, array.view(), print);
}

void compare_with_cpu(prepared_job const& job, plan_job const& options, plan_summary& summary)
{
  auto const reference_device = open_device("cpu", options.cpu);
  auto linker = options.link.linker();
  auto flags = options.link.for_mode(link_mode::lto, {link_mode::lto});
  flags.options.kernels = kernels_of(job.plan);
  auto image = linker.link(job.inputs,
                           flags.make_options(reference_device->info().target, link_mode::lto,
                                              reference_device->info().image_for(link_mode::lto)));
  auto const result = run_image(*reference_device, job, std::move(image));
  auto const sizes = sizes_as_arrays(job);
  auto const reference = reference_of(job, sizes);
  for (auto const& [name, array] : summary.modes.front().outputs)
    summary.against_cpu[name] =
        reference.verify_between(name, result.outputs.at(name).view(), array.view());
}

void write_outputs(prepared_job const& job, plan_summary const& summary)
{
  if (!summary.verified()) return;
  for (auto const& [name, file] : job.arguments.outputs) {
    auto const& array = summary.modes.back().outputs.at(name);
    auto const writer = create_npy(file, array.type, array.extents);
    writer->append(array.bytes);
    writer->commit();
  }
}

}  // namespace

std::optional<launch_plan> plan_of_library(std::string const& library)
{
  if (library.empty()) return std::nullopt;
  return launch_plan::beside(input_file(library));
}

int run_plan(launch_plan plan, plan_job const& options)
{
  auto const job = prepare_job(std::move(plan), options);
  for (auto const& [name, file] : job.arguments.outputs)
    if (!is_standard_output(file)) must_not_overwrite(options.paths, file);
  device_choice choice(options.device);
  auto const destination = choice.open(options.cpu);
  plan_summary summary{.device = destination->info(), .plan = job.plan, .sizes = job.data.sizes};
  for (auto const& path : options.paths) summary.files.push_back(path.string());
  auto linker = options.link.linker();
  for (auto const mode : options.modes) {
    auto flags = options.link.for_mode(mode, options.modes);
    flags.options.kernels = kernels_of(job.plan);
    auto image = linker.link(job.inputs, flags.make_options(summary.device.target, mode,
                                                            summary.device.image_for(mode)));
    print_warnings(image.warnings);
    summary.modes.push_back(run_image(*destination, job, std::move(image)));
  }
  verify(job, summary, options.print);
  if (options.compare_cpu) compare_with_cpu(job, options, summary);
  write_outputs(job, summary);
  if (options.json)
    print_json("fatlink.run-plan/1", to_json(summary));
  else
    print_text(summary, options.print);
  return summary.verified() ? k_done : k_not_verified;
}

}  // namespace fatlink::cli
