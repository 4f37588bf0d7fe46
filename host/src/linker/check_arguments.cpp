// SPDX-License-Identifier: Apache-2.0
#include "linker/check_arguments.hpp"

#include <algorithm>
#include <string>

#include "preflight/symbols.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

[[noreturn]] void refuse_value(char const* name, int value)
{
  throw usage_error(
      {.message = detail::format("{} has no value {}", name, value),
       .input = std::to_string(value),
       .code = error_code::invalid_argument,
       .hint = detail::format("use an enumerator of fatlink::{}, fatlink/linker.hpp", name)});
}

[[noreturn]] void refuse_emit(link_options const& options)
{
  auto const mode = std::string(to_string(options.mode));
  throw usage_error(
      {.message = detail::format("{} cannot be emitted in {} mode", to_string(options.emit), mode),
       .input = to_string(options.emit),
       .code = error_code::invalid_emit,
       .hint = "PTX and LTO-IR are emitted in lto mode; every mode emits a cubin"});
}

bool can_emit(image_kind kind, link_mode mode)
{
  switch (kind) {
    case image_kind::ptx:
    case image_kind::ltoir:
      return mode == link_mode::lto;
    case image_kind::ptx_set:
      return mode == link_mode::ptx;
    case image_kind::cubin:
    case image_kind::relocatable:
      break;
  }
  return true;
}

template <typename Inputs>
void check_all(Inputs const& inputs, link_options const& options)
{
  if (options.mode != link_mode::ptx && options.mode != link_mode::lto &&
      options.mode != link_mode::sass)
    refuse_value("link_mode", static_cast<int>(options.mode));
  if (options.emit < image_kind::cubin || options.emit > image_kind::relocatable)
    refuse_value("image_kind", static_cast<int>(options.emit));
  for (auto const& candidate : inputs)
    if (!candidate.has_value())
      throw usage_error({.message = "an input was moved from",
                         .input = "inputs",
                         .code = error_code::moved_from,
                         .hint = "copy an input that is used again; copies share their bytes"});
  if (inputs.empty())
    throw usage_error({.message = "no inputs: there is nothing to link",
                       .input = "inputs",
                       .code = error_code::missing_input,
                       .hint = "pass the library first, then the transforms"});
  if (!can_emit(options.emit, options.mode)) refuse_emit(options);
  check_link_options(options);
}

}  // namespace

void detail::check_settings(linker_settings const& settings)
{
  auto const limit_ms = settings.time_limit.count();
  if (limit_ms <= 0)
    throw usage_error({.message = detail::format("a time limit of {} ms", limit_ms),
                       .input = std::to_string(limit_ms),
                       .code = error_code::invalid_time_limit,
                       .hint = "set <linker_settings::time_limit> to more than 0"});
  if (settings.isolation != isolation::in_process && settings.isolation != isolation::helper)
    refuse_value("isolation", static_cast<int>(settings.isolation));
}

void detail::refuse_moved_linker()
{
  throw usage_error({.message = "the linker was moved from",
                     .input = "linker",
                     .code = error_code::moved_from,
                     .hint = "copy a linker that is used again; copies share their state"});
}

void detail::check_arguments(std::span<input const> inputs, link_options const& options)
{
  check_all(inputs, options);
}

void detail::check_arguments(std::span<fatbin const> modules, link_options const& options)
{
  check_all(modules, options);
}

void detail::check_layer_image(link_options const& options)
{
  if (options.emit == image_kind::cubin || options.emit == image_kind::ptx) return;
  auto const kind = std::string(to_string(options.emit));
  throw usage_error({.message = detail::format("a cache layer holds cubins and PTX, not {}", kind),
                     .input = kind,
                     .code = error_code::invalid_emit,
                     .hint = "link it with link()"});
}

void detail::check_reference_device(std::span<fatbin const> modules)
{
  for (auto const& module : modules)
    if (is_sass_only(module))
      throw unavailable_error(
          stage::device,
          {.message = detail::format("{} holds SASS only, which the reference device does not run",
                                     module.name()),
           .input = module.name(),
           .code = error_code::needs_gpu,
           .hint = "<link for a GPU>, or compile it to PTX: nvcc -dlto -fatbin "
                   "-arch=sm_75, or fatlink compile --arch 75"});
}

}  // namespace fatlink
