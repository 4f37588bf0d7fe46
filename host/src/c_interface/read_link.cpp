// SPDX-License-Identifier: Apache-2.0
#include "c_interface/read_link.hpp"

#include "c_interface/enumerations.hpp"
#include "c_interface/struct_size.hpp"
#include "util/text/format.hpp"

namespace fatlink::c {
namespace {

/// 0 stands for none.
std::optional<unsigned> number_of(std::uint32_t value)
{
  return value == 0 ? std::optional<unsigned>() : value;
}

void read_flags(link_options& options, fatlink_link_options const& stated)
{
  options.allow_calls = stated.allow_calls != 0;
  options.whole_archive = stated.whole_archive != 0;
  options.require_inlined = stated.require_inlined != 0;
  options.drop_unused_variables = stated.drop_unused_variables != 0;
  options.latest_nvvm = stated.latest_nvvm != 0;
  options.line_info = stated.line_info != 0;
  options.debug = stated.debug != 0;
  if (stated.no_optimization != 0) options.optimization = 0;
}

void read_float_flags(link_options& options, fatlink_link_options const& stated)
{
  options.ftz = read_choice(stated.ftz, "options.ftz");
  options.prec_div = read_choice(stated.prec_div, "options.prec_div");
  options.prec_sqrt = read_choice(stated.prec_sqrt, "options.prec_sqrt");
  options.fma = read_choice(stated.fma, "options.fma");
}

}  // namespace

std::vector<input> read_inputs(fatlink_input const* const* inputs, std::size_t count)
{
  std::vector<input> result;
  for (auto const* const entry : list(inputs, count, "inputs")) {
    if (entry == nullptr) fail_null(detail::format("inputs[{}]", result.size()));
    result.push_back(entry->contents);
  }
  return result;
}

link_options read_options(fatlink_link_options const* given)
{
  auto const stated = required_struct(given, "options");
  link_options options;
  options.target = target(required_text(stated.target, "options.target"));
  options.mode = read_mode(stated.mode);
  options.emit = read_kind(stated.emit);
  read_flags(options, stated);
  read_float_flags(options, stated);
  options.kernels = texts(stated.kernels, stated.kernel_count, "options.kernels");
  options.variables = texts(stated.variables, stated.variable_count, "options.variables");
  options.max_registers = number_of(stated.max_registers);
  options.threads = number_of(stated.threads);
  options.ptxas = texts(stated.ptxas, stated.ptxas_count, "options.ptxas");
  return options;
}

}  // namespace fatlink::c
