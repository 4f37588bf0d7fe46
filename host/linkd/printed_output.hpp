// SPDX-License-Identifier: Apache-2.0
// Collects what nvJitLink prints: it reports wrong prototypes and duplicate definitions only on
// standard error. Standard output and standard error of the tool process are a file in memory.
#pragma once

#include <string>

namespace fatlink {

/// Redirects standard output and standard error of this process to a file in memory.
/// @throws unavailable_error the kernel refuses; the helper must not link then.
void collect_printed_output();

/// Returns what was printed since the previous call.
std::string take_printed_output();

}  // namespace fatlink
