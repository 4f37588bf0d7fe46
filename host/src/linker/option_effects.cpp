// SPDX-License-Identifier: Apache-2.0
#include "linker/option_effects.hpp"

#include <string>

#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr bool k_on = true;
constexpr bool k_no = false;

// The columns: lto mode to a cubin, lto mode to PTX, ptx mode to a cubin, ptx mode to a
// ptx_set, sass mode to a cubin, lto mode to LTO-IR. A relocatable cubin is like a cubin.
constexpr std::array k_effects{
    option_effect{"link_options::allow_calls",
                  {k_on, k_no, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.allow_calls; }},
    option_effect{"link_options::whole_archive",
                  {k_on, k_on, k_on, k_on, k_on, k_on},
                  [](link_options const& o) { return o.whole_archive; }},
    option_effect{"link_options::kernels",
                  {k_on, k_on, k_on, k_on, k_on, k_no},
                  [](link_options const& o) { return !o.kernels.empty(); }},
    option_effect{"link_options::variables",
                  {k_on, k_on, k_no, k_no, k_no, k_no},
                  [](link_options const& o) { return !o.variables.empty(); }},
    option_effect{"link_options::drop_unused_variables",
                  {k_on, k_on, k_no, k_no, k_no, k_no},
                  [](link_options const& o) { return o.drop_unused_variables; }},
    option_effect{"link_options::max_registers",
                  {k_on, k_no, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.max_registers.has_value(); }},
    option_effect{"link_options::optimization",
                  {k_on, k_on, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.optimization.has_value(); }},
    option_effect{"link_options::fast_compile",
                  {k_on, k_on, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.fast_compile != fast_compile::none; }},
    option_effect{"link_options::line_info",
                  {k_on, k_no, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.line_info; }},
    option_effect{"link_options::debug",
                  {k_on, k_no, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.debug; }},
    option_effect{"link_options::ftz",
                  {k_on, k_on, k_no, k_no, k_no, k_on},
                  [](link_options const& o) { return o.ftz.has_value(); }},
    option_effect{"link_options::prec_div",
                  {k_on, k_on, k_no, k_no, k_no, k_on},
                  [](link_options const& o) { return o.prec_div.has_value(); }},
    option_effect{"link_options::prec_sqrt",
                  {k_on, k_on, k_no, k_no, k_no, k_on},
                  [](link_options const& o) { return o.prec_sqrt.has_value(); }},
    option_effect{"link_options::fma",
                  {k_on, k_on, k_no, k_no, k_no, k_on},
                  [](link_options const& o) { return o.fma.has_value(); }},
    option_effect{"link_options::stack_protector",
                  {k_on, k_no, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.stack_protector; }},
    option_effect{"link_options::latest_nvvm",
                  {k_on, k_on, k_no, k_no, k_no, k_no},
                  [](link_options const& o) { return o.latest_nvvm; }},
    option_effect{"link_options::threads",
                  {k_on, k_on, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return o.threads.has_value(); }},
    option_effect{"link_options::driver_cache",
                  {k_on, k_on, k_on, k_no, k_on, k_on},
                  [](link_options const& o) { return !o.driver_cache; }},
    option_effect{"link_options::ptxas",
                  {k_on, k_no, k_on, k_no, k_no, k_no},
                  [](link_options const& o) { return !o.ptxas.empty(); }},
    option_effect{"link_options::nvvm",
                  {k_on, k_on, k_no, k_no, k_no, k_no},
                  [](link_options const& o) { return !o.nvvm.empty(); }},
    option_effect{"link_options::require_inlined",
                  {k_on, k_on, k_no, k_no, k_no, k_no},
                  [](link_options const& o) { return o.require_inlined; }},
};

/// Where the option has no effect.
std::string_view describe(link_kind kind)
{
  switch (kind) {
    case link_kind::lto_cubin:
      return "in lto mode";
    case link_kind::lto_ptx:
      return "on emitted PTX, which ptxas has not compiled";
    case link_kind::ptx_cubin:
      return "in ptx mode";
    case link_kind::ptx_set:
      return "in ptx mode on the reference device, for which nvJitLink is not used";
    case link_kind::sass:
      return "in sass mode, which compiles nothing";
    case link_kind::lto_ltoir:
      return "on emitted LTO-IR, which nothing has compiled";
  }
  return "in this link";
}

std::string remedy(option_effect const& option, link_kind kind)
{
  auto const remove = detail::format("do not set <{}>", option.field);
  if (kind == link_kind::lto_ptx)
    return remove + ", or emit a cubin for a GPU: <image_kind::cubin>";
  if (kind == link_kind::lto_ltoir)
    return remove + ", but for the link that has the emitted LTO-IR as an input";
  if (kind == link_kind::ptx_set && !option.in(link_kind::lto_ptx))
    return remove + ", or link for a GPU";
  if (!option.in(link_kind::lto_cubin)) return remove;
  return remove + ", or link in lto mode: <link_mode::lto>";
}

}  // namespace

link_kind link_kind_of(link_mode mode, image_kind emit) noexcept
{
  if (emit == image_kind::ptx_set) return link_kind::ptx_set;
  if (mode == link_mode::ptx) return link_kind::ptx_cubin;
  if (mode == link_mode::sass) return link_kind::sass;
  if (emit == image_kind::ltoir) return link_kind::lto_ltoir;
  return emit == image_kind::ptx ? link_kind::lto_ptx : link_kind::lto_cubin;
}

std::span<option_effect const> option_effects() noexcept
{
  return k_effects;
}

void check_effects(link_options const& options)
{
  auto const kind = link_kind_of(options.mode, options.emit);
  for (auto const& option : k_effects)
    if (option.is_set(options) && !option.in(kind))
      throw usage_error({.message = detail::format("<{}>: this option has no effect {}",
                                                   option.field, describe(kind)),
                         .input = detail::format("<{}>", option.field),
                         .code = error_code::option_has_no_effect,
                         .hint = remedy(option, kind)});
}

}  // namespace fatlink::detail
