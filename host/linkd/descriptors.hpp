// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fatlink {

/// The descriptor of the status pipe, on which the guardian reports how the tool process ended.
constexpr int k_status_descriptor = 3;

/// Closes all descriptors except 0, 1, 2 and the status pipe. Returns the status pipe; -1 if
/// descriptor 3 is not a pipe.
int keep_own_descriptors();

}  // namespace fatlink
