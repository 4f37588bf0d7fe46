// SPDX-License-Identifier: Apache-2.0
// Finds calls whose type differs from the function that an LTO link chose for their name. nvcc
// inlines a small `inline` function and removes it from the PTX, but the LTO-IR keeps it as a weak
// definition. A strong definition of that name in another input replaces it, whatever its type, and
// nvJitLink reports nothing. A link of all inputs to PTX without optimization shows the difference:
// the function is called by its address, through a .callprototype of another type. Measured with
// nvJitLink 13.0. Types of one width, such as float and int, are not distinguished.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fatlink/linker.hpp"
#include "fatlink/ptx_interface.hpp"

namespace fatlink::detail {

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
