// SPDX-License-Identifier: Apache-2.0
// Files without a name, which disappear with their last descriptor.
#pragma once

#include <filesystem>

namespace fatlink::detail {

/// A descriptor of a new unnamed file in `folder`, open for reading and writing; linkat on
/// /proc/self/fd can name it. -1 sets errno; some file systems have no unnamed files.
int open_unnamed(std::filesystem::path const& folder);

/// $TMPDIR, else /tmp; it need not exist.
std::filesystem::path scratch_folder();

/// As above, for temporary data: if the file system of `folder` has no unnamed files, creates a
/// file and removes its name immediately. -1 sets errno.
int open_scratch(std::filesystem::path const& folder);

}  // namespace fatlink::detail
