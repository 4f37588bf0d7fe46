// SPDX-License-Identifier: Apache-2.0
// Compares what the PTX of modules defines and declares: modules of one source agree. LTO-IR and
// SASS show no types. Threads: no shared state.
#pragma once

#include <vector>

#include "fatlink/preflight.hpp"

namespace fatlink::cli {

/// Appends an interface-mismatch for each module that does not agree with the first one with PTX.
/// Two modules agree if a PTX entry of one has the kernels, definitions and variables of a PTX
/// entry of the other, and no function or variable with another type; entries of one module may
/// differ
/// (__CUDA_ARCH__).
/// @throws format_error PTX that does not decompress. @throws file_error PTX that cannot be read.
void compare_modules(std::vector<fatbin> const& modules, std::vector<finding>& findings);

}  // namespace fatlink::cli
