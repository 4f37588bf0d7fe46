// SPDX-License-Identifier: Apache-2.0
// The preflight of a link.
#pragma once

#include "fatlink/link_options.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink::detail {

/// What preflight checks before a link with `options`.
inline preflight_request request_of(link_options const& options)
{
  return {.target = options.target,
          .mode = options.mode,
          .allow_calls = options.allow_calls,
          .states_float_flags = options.ftz && options.prec_div && options.prec_sqrt && options.fma,
          .whole_archive = options.whole_archive,
          .drop_unused_variables = options.drop_unused_variables,
          .kernels = options.kernels,
          .variables = options.variables};
}

}  // namespace fatlink::detail
