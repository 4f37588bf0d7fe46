// SPDX-License-Identifier: Apache-2.0
// Calls of another type than the function that an LTO link chose for their name. nvcc inlines a
// small `inline` function and removes it from the PTX, while the LTO-IR keeps it as a weak
// definition: a strong definition of that name in another input replaces it, whatever its type, and
// nothing is logged. A link of all inputs to PTX without optimisation shows it: the function is
// called by its address through a .callprototype of another type. Measured with nvJitLink 13.0. Not
// told apart: types of one width, such as float and int.
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
  ptx_function call;        ///< the types that a call of it has, under its name
};

/// The calls by address in `ptx` whose types are not those of the function, each function once.
/// @throws file_error text that is no PTX; names `name`.
std::vector<mismatched_call> find_mismatched_calls(std::string_view ptx, std::string_view name);

/// Errors only: signature-mismatch. Links once more where an input that can be read defines a
/// function that the PTX of another input does not mention, or an input cannot be read; else
/// nothing.
/// @throws link_error that link failed.
std::vector<finding> check_calls(std::vector<fatbin> const& inputs, link_options const& options,
                                 link_function const& link);

}  // namespace fatlink::detail
