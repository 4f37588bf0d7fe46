// SPDX-License-Identifier: Apache-2.0
// Threads: no shared state.
#pragma once

#include <filesystem>
#include <system_error>
#include <vector>

namespace fatlink::detail {

/// The paths of everything in `folder`, in no order; those until then where the system refuses to
/// read on, none where it refuses to open. @throws std::bad_alloc, which ends the process inside of
/// libstdc++'s directory_iterator.
std::vector<std::filesystem::path> list_folder(std::filesystem::path const& folder);

/// std::filesystem::canonical: `path` without symbolic links. `failure` says why there is none.
/// @throws std::bad_alloc: canonical reports missing memory as it does a missing file.
std::filesystem::path real_path(std::filesystem::path const& path, std::error_code& failure);

}  // namespace fatlink::detail
