// SPDX-License-Identifier: Apache-2.0
// Checks link_options::ptxas and ::nvvm, which nvJitLink passes on as they are. Threads: no shared
// state.
#pragma once

#include "fatlink/link_options.hpp"

namespace fatlink::detail {

/// @throws usage_error (invalid_argument) an option that does not begin with a dash, holds a space
///   or a control character, is too long, names a file, or does what a field of link_options does;
///   or too many of them.
void check_raw_options(link_options const& options);

}  // namespace fatlink::detail
