// SPDX-License-Identifier: Apache-2.0
// What nvJitLink prints: it reports wrong prototypes and duplicates on standard error and nowhere
// else. Standard output and standard error of the linking process are a file in memory.
#pragma once

#include <string>

namespace fatlink {

/// From here on, what this process prints is collected; the present standard output is closed.
/// @throws unavailable_error the kernel refuses: never links uncollected.
void collect_printed_output();

/// Returns what was printed since the last call.
std::string take_printed_output();

}  // namespace fatlink
