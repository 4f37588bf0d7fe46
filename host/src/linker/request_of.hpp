// SPDX-License-Identifier: Apache-2.0
// The preflight of a link.
#pragma once

#include "fatlink/link_options.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink::detail {

/// Whether the image is an input of another link, which defines what is missing.
inline bool is_partial(link_options const& options) noexcept
{
  return options.emit == image_kind::ltoir || options.emit == image_kind::relocatable;
}

/// What preflight checks before a link with `options`.
inline preflight_request request_of(link_options const& options)
{
  return {.target = options.target,
          .mode = options.mode,
          .allow_calls = options.allow_calls,
          .states_float_flags = options.ftz && options.prec_div && options.prec_sqrt && options.fma,
          .is_partial = is_partial(options),
          .whole_archive = options.whole_archive,
          .drop_unused_variables = options.drop_unused_variables,
          .kernels = options.kernels,
          .variables = options.variables};
}

}  // namespace fatlink::detail
