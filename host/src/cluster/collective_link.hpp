// SPDX-License-Identifier: Apache-2.0
// One collective link. Threads: as the channel.
#pragma once

#include <functional>

#include "fatlink/link_once.hpp"

namespace fatlink::detail {

/// Links what `read` returns, once for all ranks that need the same, and passes the image to `use`
/// on each rank. Errors of both are errors of all ranks.
/// @throws as link_once, and what `use` throws, prefixed with the rank, on all ranks.
void link_collectively(rank_channel& ranks, linker& linker, link_once_settings const& settings,
                       std::function<link_task()> const& read,
                       std::function<void(linked_image)> const& use);

}  // namespace fatlink::detail
