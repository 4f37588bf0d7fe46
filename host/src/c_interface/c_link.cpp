// SPDX-License-Identifier: Apache-2.0
// Images as the C interface returns them. Threads: no shared state.
#include <memory>
#include <utility>

#include "c_interface/guard.hpp"
#include "c_interface/handles.hpp"
#include "c_interface/structs.hpp"
#include "fatlink/preflight.hpp"
#include "linker/check_arguments.hpp"
#include "plan/warm_cache.hpp"

namespace fatlink::c {
namespace {

inline fatlink_image* make_image(linked_image image)
{
  auto target = image.target.name();
  return new fatlink_image{std::make_shared<linked_image const>(std::move(image)),
                           std::move(target)};
}

linker_settings settings_of(fatlink_linker_settings const& stated)
{
  auto settings = read_tool_settings<linker_settings>(stated);
  if (stated.in_process != 0) settings.isolation = isolation::in_process;
  settings.nvjitlink = text_or_empty(stated.nvjitlink);
  return settings;
}

linked_image warm(linker& tool, std::vector<input> const& inputs, link_options const& options)
{
  auto image = tool.link(inputs, options);
  detail::check_stored(tool, inputs, options);
  return image;
}

layer_hosts hosts_of(int32_t one_copy)
{
  return one_copy != 0 ? layer_hosts::unnamed : layer_hosts::all;
}

}  // namespace
}  // namespace fatlink::c

using namespace fatlink::c;

fatlink_error* fatlink_linker_create(fatlink_linker_settings const* settings,
                                     fatlink_linker** linker)
{
  return guarded([&] {
    auto& result = output(linker, "linker");
    auto const stated = optional_struct(settings, "settings");
    result = new fatlink_linker{fatlink::linker(settings_of(stated))};
  });
}

fatlink_error* fatlink_link(fatlink_linker* linker, fatlink_input const* const* inputs,
                            size_t count, fatlink_link_options const* options,
                            fatlink_image** image)
{
  return guarded([&] {
    auto& result = output(image, "image");
    auto& tool = required(linker, "linker").linker;
    auto const stated = read_options(options);
    result = make_image(tool.link(read_inputs(inputs, count), stated));
  });
}

fatlink_error* fatlink_cache_warm(fatlink_linker* linker, fatlink_input const* const* inputs,
                                  size_t count, fatlink_link_options const* options,
                                  char const* layer, int32_t one_copy, fatlink_image** image)
{
  return guarded([&] {
    auto& result = output(image, "image");
    auto& tool = required(linker, "linker").linker;
    auto const files = read_inputs(inputs, count);
    auto const stated = fatlink::detail::keep_plan_kernels(files, read_options(options));
    if (layer == nullptr && one_copy != 0)
      throw fatlink::usage_error({.message = "one_copy is set, and there is no layer",
                                  .input = "one_copy",
                                  .hint = "name a folder for the layer, or do not set one_copy"});
    result = make_image(layer == nullptr ? warm(tool, files, stated)
                                         : tool.link_into(required_text(layer, "layer"), files,
                                                          stated, hosts_of(one_copy)));
  });
}

fatlink_error* fatlink_check(fatlink_input const* const* inputs, size_t count,
                             fatlink_link_options const* options, fatlink_findings** findings)
{
  return guarded([&] {
    auto& result = output(findings, "findings");
    auto const stated = read_options(options);
    check_link_options(stated);
    auto const files = read_inputs(inputs, count);
    result = new fatlink_findings(fatlink::preflight(files, fatlink::detail::request_of(stated)));
  });
}

void fatlink_linker_free(fatlink_linker* linker)
{
  delete linker;
}
