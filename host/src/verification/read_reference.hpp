// SPDX-License-Identifier: Apache-2.0
// Reads a reference that an author wrote. Threads: no shared state.
#pragma once

#include <filesystem>
#include <optional>

#include "fatlink/reference.hpp"

namespace fatlink::detail {

/// As reference::read_source; with `allows_digest` the file may be the sidecar of a product, too.
/// @throws file_error as reference::read_source.
std::optional<reference> read_reference(std::filesystem::path const& path, bool allows_digest);

}  // namespace fatlink::detail
