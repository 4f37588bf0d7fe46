// SPDX-License-Identifier: Apache-2.0
// Checks the types of an opaque input, LTO-IR that no PTX describes, by two links of its own:
//   1. Without optimisation to PTX, which shows what the input's kernels reach: the functions that
//      they call or take the address of, defined or not. Shows nothing of an input without kernels.
//   2. With a witness: PTX that defines and calls the functions as the readable inputs state them.
//      nvJitLink compares the prototypes of LTO-IR and PTX. Does not see what the input's kernels
//      call and the input defines, because that is inlined first.
// Neither tells float from int of one width. The second does not compare alignments. Neither sees
// a __forceinline__ function that the input's kernels call. Measured with nvJitLink 13.0 and 13.5.
#pragma once

#include <vector>

#include "fatlink/linker.hpp"
#include "linker/link_function.hpp"

namespace fatlink::detail {

/// Checks each opaque input. Returns errors only: signature-mismatch, missing-hook,
/// missing-variable, unchecked-types. Links nothing where every input is readable.
/// @throws link_error a link failed for another reason.
std::vector<finding> check_opaque_types(std::vector<fatbin> const& inputs,
                                        link_options const& options, link_function const& link);

}  // namespace fatlink::detail
