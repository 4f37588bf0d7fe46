// SPDX-License-Identifier: Apache-2.0
// Links in advance: the links that later runs make, stored in a cache or in a layer that is
// shipped. Threads: as linker.
#pragma once

#include <vector>

#include "fatlink/linker.hpp"

namespace fatlink::detail {

/// `options` for inputs whose library has a launch plan, which `run` and prepare() link with the
/// kernels of the plan only: with these kernels, unless `options` names kernels.
/// @throws file_error (invalid-plan) the plan is malformed.
link_options keep_plan_kernels(std::vector<input> const& inputs, link_options options);

/// After a link of `tool`, checks that the folder of its cache, or a shipped layer, has the image.
/// @throws usage_error the linker has no cache. @throws file_error the cache did not store the
/// link.
void check_stored(linker const& tool, std::vector<input> const& inputs,
                  link_options const& options);

}  // namespace fatlink::detail
