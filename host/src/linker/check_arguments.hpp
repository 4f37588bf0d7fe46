// SPDX-License-Identifier: Apache-2.0
// What a linker checks before it reads its inputs' contents: settings and arguments that no link
// can have; and what it asks of preflight. Threads: no shared state.
#pragma once

#include <span>

#include "fatlink/link_options.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink::detail {

/// @throws usage_error a value that no linker can work with.
void check_settings(linker_settings const& settings);

/// @throws usage_error the linker was moved from.
[[noreturn]] void refuse_moved_linker();

/// @throws usage_error no inputs, one that was moved from, a value that is no enumerator, a kind of
///   image that the mode does not emit, or what check_link_options refuses.
void check_arguments(std::span<input const> inputs, link_options const& options);
/// As above, of modules.
void check_arguments(std::span<fatbin const> modules, link_options const& options);

/// @throws usage_error a ptx_set, which layers do not hold.
void check_layer_image(link_options const& options);

/// @throws unavailable_error (needs_gpu) a module holds SASS only, which runs on GPUs only.
void check_reference_device(std::span<fatbin const> modules);

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
