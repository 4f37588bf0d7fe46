// SPDX-License-Identifier: Apache-2.0
// The errors of links in offline mode: what is missing, and the command that adds it to a layer.
// Threads: safe.
#pragma once

#include <memory>
#include <vector>

#include "fatlink/cache.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/link_options.hpp"

namespace fatlink::detail {

/// A link that no layer has. The message names the targets and modes for which the layers have a
/// link of the same inputs and options. `cache`: may be null.
/// @throws unavailable_error error_code::offline.
[[noreturn]] void refuse_link_offline(std::shared_ptr<link_cache> const& cache,
                                      std::vector<fatbin> const& inputs,
                                      link_options const& options);

/// A check by links. @throws unavailable_error error_code::offline.
[[noreturn]] void refuse_check_offline(std::vector<fatbin> const& inputs);

}  // namespace fatlink::detail
