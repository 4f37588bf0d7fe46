// SPDX-License-Identifier: Apache-2.0
// Whether a link left calls to what fills the hooks.
#pragma once

#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/image.hpp"

namespace fatlink::detail {

/// Adds to `image` each hook that an input fills, and whether it is inlined; of an LTO link that
/// left a call to one, a warning.
void record_inlining(linked_image& image, std::vector<fatbin> const& inputs);

/// After record_inlining. @throws link_error a hook is still called (not_inlined).
void check_inlined(linked_image const& image, std::vector<fatbin> const& inputs);

/// Checks that `image` holds `kernel`: preflight cannot, where an input is opaque.
/// @throws refused_error unknown-kernel.
void check_kernel(linked_image const& image, std::vector<fatbin> const& inputs,
                  std::string const& kernel);

}  // namespace fatlink::detail
