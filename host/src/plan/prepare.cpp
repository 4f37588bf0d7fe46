// SPDX-License-Identifier: Apache-2.0
#include "fatlink/prepare.hpp"

#include <utility>

#include "device/devices.hpp"
#include "plan/check_plan.hpp"
#include "plan/requested_link.hpp"

namespace fatlink {
namespace {

/// What a request names.
struct request_inputs {
  launch_plan plan;
  std::vector<input> inputs;  ///< the library first
};

request_inputs read_inputs(plan_request const& request)
{
  std::vector<input> inputs{input::find(request.library)};
  auto plan = detail::library_plan(inputs.front());
  for (auto const& transform : request.transforms) inputs.push_back(input::find(transform));
  return {std::move(plan), std::move(inputs)};
}

link_options options_for(device_info const& device, link_mode mode, launch_plan const& plan,
                         std::vector<input> const& inputs)
{
  auto options = detail::link_options_for(device, mode);
  options.kernels = detail::kernels_to_keep(plan, inputs);
  return options;
}

}  // namespace

detail::requested_link detail::read_request(device const& destination, plan_request const& request)
{
  auto [plan, inputs] = read_inputs(request);
  auto options = options_for(destination.info(), request.mode, plan, inputs);
  return {.plan = std::move(plan), .inputs = std::move(inputs), .options = std::move(options)};
}

prepared_plan prepare(device const& destination, linker& linker, plan_request const& request)
{
  auto requested = detail::read_request(destination, request);
  auto image = linker.link(requested.inputs, requested.options);
  return prepare(destination, std::move(requested.plan), requested.inputs, std::move(image));
}

prepared_devices prepare(opened_devices const& destinations, linker& linker,
                         plan_request const& request)
{
  check_link_mode(request.mode);
  detail::check_devices(destinations);
  auto const requested = read_inputs(request);
  detail::shared_links links([&](device_info const& device, link_mode mode) {
    return linker.link(requested.inputs,
                       options_for(device, mode, requested.plan, requested.inputs));
  });
  prepared_devices prepared;
  prepared.devices = detail::on_each_device<prepared_plan>(
      destinations, [&](std::shared_ptr<device> const& destination, std::size_t) {
        return prepare(*destination, requested.plan, requested.inputs,
                       *links.get(destination->info(), request.mode));
      });
  prepared.images = links.images(request.mode);
  return prepared;
}

}  // namespace fatlink
