// SPDX-License-Identifier: Apache-2.0
// Writes to file descriptors. Threads: no shared state.
#pragma once

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// Writes all of `bytes`; continues after interrupted and short writes, and waits if the descriptor
/// is non-blocking and full. Returns false and sets errno at the first write that fails.
bool write_all(int file, bytes_view bytes) noexcept;

/// `opened`, or, if that is 0, 1 or 2, a copy with a higher number, which replaces it: in a process
/// with closed standard streams, the file would receive what other code prints. -1 sets errno.
int avoid_standard_streams(int opened) noexcept;

}  // namespace fatlink::detail
