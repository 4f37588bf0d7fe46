// SPDX-License-Identifier: Apache-2.0
// What an LTO link does with the inline functions of its inputs. LTO-IR holds them as weak
// definitions, most of which no PTX shows, because nvcc inlined their calls. The link keeps one
// definition of each name, that of the first input which has it, and reports nothing. Measured with
// nvJitLink 13.0: links of the same inputs in another order are the same PTX, except for the code
// of functions whose definitions differ. So inputs are linked to PTX without optimization, each
// once in the first place, and the results are compared.
// Threads: no shared state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fatlink/linker.hpp"
#include "fatlink/ptx_interface.hpp"
#include "linker/check_links.hpp"

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

/// A call whose type differs from the function that an LTO link chose for its name. nvcc
/// inlines a small `inline` function and removes it from the PTX, but the LTO-IR keeps it as a weak
/// definition. A strong definition of that name in another input replaces it, whatever its type,
/// and nvJitLink reports nothing. A link of all inputs to PTX without optimization shows the
/// difference: the function is called by its address, through a .callprototype of another type.
/// Measured with nvJitLink 13.0. Types of one width, such as float and int, are not distinguished.
struct mismatched_call {
  ptx_function definition;  ///< as the PTX defines it
  ptx_function call;        ///< the same name, with the types of a call
};

/// The calls by address in `ptx` whose types differ from those of the function, one for each
/// function. @throws file_error `ptx` is not valid PTX; names `name`.
std::vector<mismatched_call> find_mismatched_calls(std::string_view ptx, std::string_view name);

/// Checks the calls in `ptx`, the result of unoptimized_link() of all `inputs`. Returns only
/// signature-mismatch errors. @throws file_error as find_mismatched_calls().
std::vector<finding> check_calls(std::vector<fatbin> const& inputs, link_options const& options,
                                 std::string_view ptx);

}  // namespace fatlink::detail
