// SPDX-License-Identifier: Apache-2.0
// Checks default definitions that the PTX of an input does not show: nvcc inlines a small `inline`
// function and removes it from the PTX, while the LTO-IR keeps it as a weak definition, which an
// LTO link replaces by another input's strong definition of that name, whatever its type.
#pragma once

#include <vector>

#include "fatlink/linker.hpp"
#include "linker/link_function.hpp"

namespace fatlink::detail {

/// Returns errors only: signature-mismatch. Links an input with kernels once more where another
/// input defines a function with C linkage that no PTX of the former mentions; else nothing.
/// @throws link_error that link failed.
std::vector<finding> check_inlined_defaults(std::vector<fatbin> const& inputs,
                                            link_options const& options, link_function const& link);

}  // namespace fatlink::detail
