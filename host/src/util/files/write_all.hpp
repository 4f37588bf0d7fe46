// SPDX-License-Identifier: Apache-2.0
// Descriptors that are written to. Threads: no shared state.
#pragma once

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// Writes all of `bytes`, going on after interrupted and short writes and waiting where the
/// descriptor is non-blocking and full. False with errno at the first write that fails.
bool write_all(int file, bytes_view bytes) noexcept;

/// `opened`, or, where that is 0, 1 or 2, a copy of it above, in its place: in a process whose
/// standard streams are closed, a file would receive what others print. -1 with errno.
int avoid_standard_streams(int opened) noexcept;

}  // namespace fatlink::detail
