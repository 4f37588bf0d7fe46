// SPDX-License-Identifier: Apache-2.0
// Finds calls whose type differs from the function that an LTO link chose for their name. nvcc
// inlines a small `inline` function and removes it from the PTX, but the LTO-IR keeps it as a weak
// definition. A strong definition of that name in another input replaces it, whatever its type, and
// nvJitLink reports nothing. A link of all inputs to PTX without optimisation shows the difference:
// the function is called by its address, through a .callprototype of another type. Measured with
// nvJitLink 13.0. Types of one width, such as float and int, are not distinguished.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fatlink/linker.hpp"
#include "fatlink/ptx_interface.hpp"
#include "linker/link_function.hpp"

namespace fatlink::detail {

struct mismatched_call {
  ptx_function definition;  ///< as the PTX defines it
  ptx_function call;        ///< the same name, with the types of a call
};

/// The calls by address in `ptx` whose types differ from those of the function, one for each
/// function. @throws file_error `ptx` is not valid PTX; names `name`.
std::vector<mismatched_call> find_mismatched_calls(std::string_view ptx, std::string_view name);

/// Checks the calls by an additional link. It is needed only if an input is opaque, or a readable
/// input defines a function that the PTX of another input does not mention. Returns only
/// signature-mismatch errors. @throws link_error the additional link failed.
std::vector<finding> check_calls(std::vector<fatbin> const& inputs, link_options const& options,
                                 link_function const& link);

}  // namespace fatlink::detail
