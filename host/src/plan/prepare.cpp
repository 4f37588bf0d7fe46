// SPDX-License-Identifier: Apache-2.0
#include "fatlink/prepare.hpp"

#include <utility>

#include "device/devices.hpp"
#include "plan/check_plan.hpp"
#include "plan/requested_link.hpp"

namespace fatlink {
namespace {

/// The files that a request names, the library first.
std::vector<input> read_inputs(plan_request const& request)
{
  std::vector<input> inputs{input::find(request.library)};
  for (auto const& transform : request.transforms) inputs.push_back(input::find(transform));
  return inputs;
}

link_options options_for(device_info const& device, link_mode mode, launch_plan const& plan,
                         std::vector<input> const& inputs)
{
  auto options = detail::link_options_for(device, mode);
  options.kernels = detail::kernels_to_keep(plan, inputs);
  return options;
}

}  // namespace

detail::requested_link detail::request_link(device const& destination, std::vector<input> inputs,
                                            link_mode mode)
{
  auto plan = library_plan(inputs.front());
  auto options = options_for(destination.info(), mode, plan, inputs);
  return {.plan = std::move(plan), .inputs = std::move(inputs), .options = std::move(options)};
}

detail::requested_link detail::read_request(device const& destination, plan_request const& request)
{
  return request_link(destination, read_inputs(request), request.mode);
}

prepared_plan detail::prepare_link(device const& destination, linker& tool,
                                   requested_link requested)
{
  auto image = tool.link(requested.inputs, requested.options);
  return prepare(destination, std::move(requested.plan), requested.inputs, std::move(image));
}

prepared_plan prepare(device const& destination, linker& linker, plan_request const& request)
{
  return detail::prepare_link(destination, linker, detail::read_request(destination, request));
}

prepared_devices prepare(opened_devices const& destinations, linker& linker,
                         plan_request const& request)
{
  check_link_mode(request.mode);
  detail::check_devices(destinations);
  auto const inputs = read_inputs(request);
  auto const plan = detail::library_plan(inputs.front());
  detail::shared_links links([&](device_info const& device, link_mode mode) {
    return linker.link(inputs, options_for(device, mode, plan, inputs));
  });
  prepared_devices prepared;
  prepared.devices = detail::on_each_device<prepared_plan>(
      destinations, [&](std::shared_ptr<device> const& destination, std::size_t) {
        return prepare(*destination, plan, inputs, *links.get(destination->info(), request.mode));
      });
  prepared.images = links.images(request.mode);
  return prepared;
}

}  // namespace fatlink
