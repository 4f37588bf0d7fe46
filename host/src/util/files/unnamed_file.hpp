// SPDX-License-Identifier: Apache-2.0
// Files without a name, which cannot be left behind.
#pragma once

#include <filesystem>

namespace fatlink::detail {

/// A descriptor of a new file in `folder` that has no name, open for reading and writing, and that
/// linkat on /proc/self/fd can give one; -1 with errno where the file system has no such files.
int open_unnamed(std::filesystem::path const& folder);

/// $TMPDIR, else /tmp, whether it is there or not.
std::filesystem::path scratch_folder();

/// The same for bytes that are only kept for a while: where `folder` has no unnamed files, the name
/// is removed at once. -1 with errno.
int open_scratch(std::filesystem::path const& folder);

}  // namespace fatlink::detail
