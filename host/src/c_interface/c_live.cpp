// SPDX-License-Identifier: Apache-2.0
// How live modules and live plans link, and what their swaps report. Threads: no shared state.
#include <mutex>
#include <optional>

#include "c_interface/guard.hpp"
#include "c_interface/handles.hpp"
#include "c_interface/plan_arguments.hpp"
#include "c_interface/structs.hpp"
#include "fatlink/live_swap.hpp"

namespace fatlink::c {
namespace {

/// @throws usage_error `settings` is malformed.
live_settings read_live_settings(device const& destination, fatlink_live_settings const* settings)
{
  auto const stated = optional_struct(settings, "settings");
  return {.link = destination.link_options(read_mode(stated.mode)), .tiered = stated.tiered != 0};
}

/// As the C interface reports it.
fatlink_swap_report report_of(swap_report const& report)
{
  return {.size = sizeof(fatlink_swap_report),
          .version = report.version,
          .mode = mode_of(report.mode),
          .cache = outcome_of(report.cache),
          .link_ms = report.times.check_ms + report.times.link_ms,
          .load_ms = report.times.load_ms,
          .total_ms = report.times.total_ms()};
}

/// A live module or plan of the types of the C and the C++ interface.
template <typename Handle, typename Live>
Handle* make_live(fatlink_device* device, fatlink_linker* linker,
                  fatlink_live_settings const* settings)
{
  auto const& destination = *required(device, "device").device;
  auto const& tool = required(linker, "linker").linker;
  return new Handle{Live(destination, tool, read_live_settings(destination, settings))};
}

/// Swaps a live module or plan; `report` may be NULL.
template <typename Live>
void swap_live(Live& live, fatlink_input const* const* inputs, std::size_t count,
               fatlink_swap_report* report)
{
  std::optional<struct_output<fatlink_swap_report>> result;
  if (report != nullptr) result.emplace(report, "report");
  auto const done = live.swap(read_inputs(inputs, count));
  if (result) result->set(report_of(done));
}

/// Calls `work` with the arguments and the scratch memory as C++ takes them.
template <typename Work>
auto with_arguments(live_plan const& live, fatlink_argument const* arguments, std::size_t count,
                    Work const& work)
{
  std::optional<launch_plan> plan;
  if (has_unstated_value(arguments, count)) plan = live.plan();
  argument_list const given(arguments, count, plan ? &*plan : nullptr);
  return work(given.span());
}

/// What calls of any version pass, in the order of the first plan that this is called with. They do
/// not change afterwards.
std::vector<fatlink_live_plan::argument> const& arguments_of(fatlink_live_plan const& live,
                                                             launch_plan const& published)
{
  std::lock_guard const lock(live.mutex);
  if (!live.arguments.empty()) return live.arguments;
  std::vector<fatlink_live_plan::argument> arguments;
  for (auto const& argument : published.arguments)
    if (argument.role != argument_role::scratch)
      arguments.push_back({argument.name, type_name_of(argument)});
  live.arguments = std::move(arguments);
  return live.arguments;
}

}  // namespace
}  // namespace fatlink::c

using namespace fatlink::c;

fatlink_error* fatlink_live_module_create(fatlink_device* device, fatlink_linker* linker,
                                          fatlink_live_settings const* settings,
                                          fatlink_live_module** module)
{
  return guarded([&] {
    auto& result = output(module, "module");
    result = make_live<fatlink_live_module, fatlink::live_module>(device, linker, settings);
  });
}

fatlink_error* fatlink_live_module_swap(fatlink_live_module* module,
                                        fatlink_input const* const* inputs, size_t count,
                                        fatlink_swap_report* report)
{
  return guarded([&] { swap_live(required(module, "module").module, inputs, count, report); });
}

fatlink_error* fatlink_live_module_kernel(fatlink_live_module* module, char const* name,
                                          fatlink_live_kernel** kernel)
{
  return guarded([&] {
    auto& result = output(kernel, "kernel");
    auto const& live = required(module, "module").module;
    result = new fatlink_live_kernel{live.find_kernel(required_text(name, "name"))};
  });
}

uint64_t fatlink_live_module_version(fatlink_live_module const* module)
{
  if (module == nullptr) return 0;
  return value_or(std::uint64_t{0}, [&] { return module->module.current().number; });
}

void fatlink_live_module_free(fatlink_live_module* module)
{
  delete module;
}

size_t fatlink_live_kernel_parameter_count(fatlink_live_kernel const* kernel)
{
  return parameter_count(kernel);
}

size_t fatlink_live_kernel_parameter_bytes(fatlink_live_kernel const* kernel, size_t index)
{
  return parameter_bytes(kernel, index);
}

fatlink_error* fatlink_live_kernel_launch(fatlink_live_kernel const* kernel, void* stream,
                                          fatlink_launch_shape const* shape, void* const* arguments,
                                          size_t count)
{
  return guarded([&] { launch(kernel, stream, shape, arguments, count); });
}

void fatlink_live_kernel_free(fatlink_live_kernel* kernel)
{
  delete kernel;
}

fatlink_error* fatlink_live_plan_create(fatlink_device* device, fatlink_linker* linker,
                                        fatlink_live_settings const* settings,
                                        fatlink_live_plan** plan)
{
  return guarded([&] {
    auto& result = output(plan, "plan");
    result = make_live<fatlink_live_plan, fatlink::live_plan>(device, linker, settings);
  });
}

fatlink_error* fatlink_live_plan_swap(fatlink_live_plan* plan, fatlink_input const* const* inputs,
                                      size_t count, fatlink_swap_report* report)
{
  return guarded([&] { swap_live(required(plan, "plan").plan, inputs, count, report); });
}

size_t fatlink_live_plan_argument_count(fatlink_live_plan const* plan)
{
  if (plan == nullptr) return 0;
  return value_or(std::size_t{0}, [&] { return arguments_of(*plan, plan->plan.plan()).size(); });
}

fatlink_error* fatlink_live_plan_get_argument(fatlink_live_plan const* plan, size_t index,
                                              fatlink_plan_argument* argument)
{
  return guarded([&] {
    struct_output const result(argument, "argument");
    auto const& live = required(plan, "plan");
    auto const published = live.plan.plan();
    auto const& all = arguments_of(live, published);
    check_index(index, all.size(), "arguments");
    result.set(
        c_argument_of(*published.find(all[index].name), all[index].name, all[index].type_name));
  });
}

fatlink_error* fatlink_live_plan_extents(fatlink_live_plan const* plan,
                                         fatlink_argument const* sizes, size_t count,
                                         char const* array, uint64_t* extents, size_t capacity,
                                         size_t* dimensions)
{
  return guarded([&] {
    extents_output const result(array, extents, capacity, dimensions);
    auto const& live = required(plan, "plan").plan;
    auto const all =
        with_arguments(live, sizes, count, [&](auto const& given) { return live.extents(given); });
    result.set(live.plan(), all);
  });
}

fatlink_error* fatlink_live_plan_scratch_bytes(fatlink_live_plan const* plan,
                                               fatlink_argument const* sizes, size_t count,
                                               size_t* bytes)
{
  return guarded([&] {
    auto& result = output(bytes, "bytes");
    auto const& live = required(plan, "plan").plan;
    result = with_arguments(live, sizes, count,
                            [&](auto const& given) { return live.scratch_bytes(given); });
  });
}

fatlink_error* fatlink_live_plan_run(fatlink_live_plan const* plan, void* stream,
                                     fatlink_argument const* arguments, size_t count,
                                     uint64_t scratch, size_t scratch_bytes)
{
  return guarded([&] {
    auto const& live = required(plan, "plan").plan;
    with_arguments(live, arguments, count, [&](auto const& given) {
      live.run(fatlink::stream_view(stream), given, {.address = scratch, .bytes = scratch_bytes});
    });
  });
}

fatlink_error* fatlink_live_plan_bind(fatlink_live_plan const* plan,
                                      fatlink_argument const* arguments, size_t count,
                                      uint64_t scratch, size_t scratch_bytes, fatlink_call** call)
{
  return guarded([&] {
    auto& result = output(call, "call");
    auto const& live = required(plan, "plan").plan;
    result = new fatlink_call{with_arguments(live, arguments, count, [&](auto const& given) {
      return live.bind(given, {.address = scratch, .bytes = scratch_bytes});
    })};
  });
}

uint64_t fatlink_live_plan_version(fatlink_live_plan const* plan)
{
  if (plan == nullptr) return 0;
  return value_or(std::uint64_t{0}, [&] { return plan->plan.version(); });
}

void fatlink_live_plan_free(fatlink_live_plan* plan)
{
  delete plan;
}
