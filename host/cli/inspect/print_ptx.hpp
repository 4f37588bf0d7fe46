// SPDX-License-Identifier: Apache-2.0
// `fatlink inspect --ptx`.
#pragma once

#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/target.hpp"

namespace fatlink::cli {

/// Prints the PTX entries of `file` that link for `targets`, or all of them without targets. For a
/// single target only the text is printed, so its line numbers are those of error messages.
/// @throws file_error there is no such entry.
void print_ptx(fatbin const& file, std::vector<target> const& targets);

}  // namespace fatlink::cli
