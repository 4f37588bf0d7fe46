// SPDX-License-Identifier: Apache-2.0
// What an LTO link does with the inline functions of its inputs. LTO-IR holds them as weak
// definitions, most of which no PTX shows, because nvcc inlined their calls. The link keeps one
// definition of each name, that of the first input which has it, and reports nothing. Measured with
// nvJitLink 13.0: links of the same inputs in another order are the same PTX, except for the code
// of functions whose definitions differ. So inputs are linked to PTX without optimization, each
// once in the first place, and the results are compared.
#pragma once

#include <vector>

#include "fatlink/linker.hpp"
#include "linker/link_function.hpp"

namespace fatlink::detail {

/// Links the LTO-IR of `inputs`, if there are two or more, by additional links to PTX. Returns
///   - signature-mismatch: check_calls();
///   - weak-mismatch: functions and variables whose code depends on the order of the inputs; of a
///     `__forceinline__` function that differs, its callers. Not of kernels: nvJitLink may choose
///     other instructions for them in another order, and a hook that they call is one of those
///     callers.
/// Of more than k_most_first inputs, only two orders are compared: as given, and reversed.
/// @throws link_error an additional link failed.
std::vector<finding> compare_orders(std::vector<fatbin> const& inputs, link_options const& options,
                                    link_function const& link);

}  // namespace fatlink::detail
