// SPDX-License-Identifier: Apache-2.0
#include "fatlink/link_once.hpp"

#include <optional>

#include "cluster/collective_link.hpp"
#include "plan/requested_link.hpp"

namespace fatlink {

linked_image link_once(rank_channel& ranks, linker& linker, std::function<link_task()> const& read,
                       link_once_settings const& settings)
{
  linked_image result;
  detail::link_collectively(ranks, linker, settings, read,
                            [&](linked_image image) { result = std::move(image); });
  return result;
}

linked_image link_once(rank_channel& ranks, linker& linker, std::vector<input> const& inputs,
                       link_options const& options, link_once_settings const& settings)
{
  return link_once(
      ranks, linker, [&] { return link_task{.inputs = inputs, .options = options}; }, settings);
}

prepared_plan prepare_once(rank_channel& ranks, std::function<device()> const& open, linker& linker,
                           plan_request const& request, link_once_settings const& settings)
{
  std::optional<device> destination;
  detail::requested_link requested;
  std::optional<prepared_plan> result;
  auto const read = [&] {
    destination = open();
    requested = detail::read_request(*destination, request);
    return link_task{.inputs = requested.inputs, .options = requested.options};
  };
  detail::link_collectively(ranks, linker, settings, read, [&](linked_image image) {
    result = prepare(*destination, std::move(requested.plan), requested.inputs, std::move(image));
  });
  return std::move(*result);
}

prepared_plan prepare_once(rank_channel& ranks, device const& destination, linker& linker,
                           plan_request const& request, link_once_settings const& settings)
{
  return prepare_once(
      ranks, [&] { return destination; }, linker, request, settings);
}

}  // namespace fatlink
