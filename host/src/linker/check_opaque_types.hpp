// SPDX-License-Identifier: Apache-2.0
// Checks the types of an opaque input (LTO-IR without PTX that describes it) by two additional
// links:
//   1. To PTX, without optimisation. The PTX shows which functions the input's kernels call or take
//      the address of, defined or not. It shows nothing for an input without kernels.
//   2. With a witness: PTX that defines and calls the functions with the types that the readable
//      inputs state. nvJitLink compares the prototypes of LTO-IR and PTX. It does not see functions
//      that the input both defines and calls from its kernels, because they are inlined first.
// Neither link distinguishes float from int of the same width, and neither sees a __forceinline__
// function that the input's kernels call. The second does not compare alignments. Measured with
// nvJitLink 13.0 and 13.5.
#pragma once

#include <vector>

#include "fatlink/linker.hpp"
#include "linker/link_function.hpp"

namespace fatlink::detail {

/// Checks each opaque input. Returns only errors: signature-mismatch, missing-hook,
/// missing-variable, unchecked-types. Links nothing if every input is readable.
/// @throws link_error an additional link failed for another reason.
std::vector<finding> check_opaque_types(std::vector<fatbin> const& inputs,
                                        link_options const& options, link_function const& link);

}  // namespace fatlink::detail
