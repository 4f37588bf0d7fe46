// SPDX-License-Identifier: Apache-2.0
#include "c_interface/guard.hpp"
#include "c_interface/handles.hpp"
#include "c_interface/plan_arguments.hpp"
#include "c_interface/structs.hpp"
#include "plan/requested_link.hpp"

namespace fatlink::c {
namespace {

fatlink_plan* make_plan(prepared_plan prepared, std::shared_ptr<device> destination)
{
  std::vector<std::string> type_names;
  for (auto const& argument : prepared.plan().arguments)
    type_names.push_back(type_name_of(argument));
  auto target = prepared.image().target.name();
  // The plan owns it.
  std::shared_ptr<linked_image const> image(std::shared_ptr<void>(), &prepared.image());
  auto const& info = destination->info();
  auto const ordinal = info.kind == device_kind::gpu ? info.ordinal : -1;
  return new fatlink_plan{std::move(prepared),
                          std::move(type_names),
                          {std::move(image), std::move(target)},
                          std::move(destination),
                          ordinal};
}

}  // namespace
}  // namespace fatlink::c

using namespace fatlink::c;

fatlink_error* fatlink_plan_prepare(fatlink_device* device, fatlink_linker* linker,
                                    fatlink_plan_request const* request, fatlink_plan** plan)
{
  return guarded([&] {
    auto& result = output(plan, "plan");
    auto const& destination = required(device, "device").device;
    auto& tool = required(linker, "linker").linker;
    auto const stated = required_struct(request, "request");
    auto requested = fatlink::detail::request_link(*destination, read_plan_inputs(stated),
                                                   read_mode(stated.mode));
    result = make_plan(fatlink::detail::prepare_link(*destination, tool, std::move(requested)),
                       destination);
  });
}

char const* fatlink_plan_name(fatlink_plan const* plan)
{
  return plan == nullptr ? "" : plan->plan.plan().name.c_str();
}

fatlink_image const* fatlink_plan_image(fatlink_plan const* plan)
{
  return plan == nullptr ? nullptr : &plan->image;
}

size_t fatlink_plan_argument_count(fatlink_plan const* plan)
{
  return plan == nullptr ? 0 : plan->type_names.size();
}

fatlink_error* fatlink_plan_get_argument(fatlink_plan const* plan, size_t index,
                                         fatlink_plan_argument* argument)
{
  return guarded([&] {
    struct_output const result(argument, "argument");
    auto const& prepared = required(plan, "plan");
    check_index(index, prepared.type_names.size(), "arguments");
    auto const& described = prepared.plan.plan().arguments[index];
    result.set(c_argument_of(described, described.name, prepared.type_names[index]));
  });
}

fatlink_error* fatlink_plan_extents(fatlink_plan const* plan, fatlink_argument const* sizes,
                                    size_t count, char const* array, uint64_t* extents,
                                    size_t capacity, size_t* dimensions)
{
  return guarded([&] {
    extents_output const result(array, extents, capacity, dimensions);
    auto const& prepared = required(plan, "plan").plan;
    argument_list const arguments(sizes, count, &prepared.plan());
    result.set(prepared.plan(), prepared.extents(arguments.span()));
  });
}

fatlink_error* fatlink_plan_scratch_bytes(fatlink_plan const* plan, fatlink_argument const* sizes,
                                          size_t count, size_t* bytes)
{
  return guarded([&] {
    auto& result = output(bytes, "bytes");
    auto const& prepared = required(plan, "plan").plan;
    argument_list const arguments(sizes, count, &prepared.plan());
    result = prepared.scratch_bytes(arguments.span());
  });
}

fatlink_error* fatlink_plan_run(fatlink_plan const* plan, void* stream,
                                fatlink_argument const* arguments, size_t count, uint64_t scratch,
                                size_t scratch_bytes)
{
  return guarded([&] {
    auto const& prepared = required(plan, "plan").plan;
    argument_list const given(arguments, count, &prepared.plan());
    prepared.run(fatlink::stream_view(stream), given.span(),
                 {.address = scratch, .bytes = scratch_bytes});
  });
}

fatlink_error* fatlink_plan_run_objects(fatlink_object_call const* call)
{
  return guarded([&] {
    auto const made = required_struct(call, "call");
    auto const& prepared = required(made.plan, "call.plan");
    array_exchange arrays(made.exchange, prepared.ordinal);
    argument_list const given(made.arguments, made.count, &prepared.plan.plan(), arrays,
                              made.objects);
    auto const stream = arrays.current_stream();
    array_exchange::unlocked const others_run(arrays);
    prepared.plan.run(stream, given.span(), {.address = made.scratch, .bytes = made.scratch_bytes});
  });
}

fatlink_error* fatlink_plan_bind(fatlink_plan const* plan, fatlink_argument const* arguments,
                                 size_t count, uint64_t scratch, size_t scratch_bytes,
                                 fatlink_call** call)
{
  return guarded([&] {
    auto& result = output(call, "call");
    auto const& prepared = required(plan, "plan").plan;
    argument_list const given(arguments, count, &prepared.plan());
    result =
        new fatlink_call{prepared.bind(given.span(), {.address = scratch, .bytes = scratch_bytes})};
  });
}

fatlink_error* fatlink_call_run(fatlink_call const* call, void* stream)
{
  return guarded([&] {
    std::visit([&](auto const& bound) { bound.run(fatlink::stream_view(stream)); },
               required(call, "call").call);
  });
}

void fatlink_call_free(fatlink_call* call)
{
  delete call;
}

void fatlink_plan_free(fatlink_plan* plan)
{
  delete plan;
}
