// SPDX-License-Identifier: Apache-2.0
// Records whether a link inlined the functions that fill hooks.
#pragma once

#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/image.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink::detail {

/// Adds to `image` each hook that an input fills, and whether it is inlined. Adds a warning for
/// each hook that an LTO link left as a call. The hooks of raw LTO-IR cannot be read: those that an
/// input with readable functions fills are added if they are left as functions in the image.
void record_inlining(linked_image& image, std::vector<fatbin> const& inputs,
                     entry_choice const& choice);

/// After record_inlining. @throws link_error a hook is still called (not_inlined).
void check_inlined(linked_image const& image, std::vector<fatbin> const& inputs);

}  // namespace fatlink::detail
