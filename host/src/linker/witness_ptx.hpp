// SPDX-License-Identifier: Apache-2.0
// Writes the PTX of a type check by a link; see check_opaque_types.hpp. Threads: no shared state.
#pragma once

#include <string>
#include <vector>

#include "fatlink/ptx_interface.hpp"
#include "fatlink/target.hpp"

namespace fatlink::detail {

/// The target of the PTX, which links for every target of CUDA 13.
constexpr target k_witness_target(75);

/// A function that an input with readable types declares or defines.
struct stated_function {
  ptx_function function;
  std::string file;         ///< the input that states it
  bool is_defined = false;  ///< an input with readable types defines it
};

/// A variable that an input with readable types declares or defines.
struct stated_variable {
  ptx_variable variable;
  std::string file;         ///< the input that states it
  bool is_defined = false;  ///< an input with readable types defines it
};

/// PTX with a kernel that calls each function and takes the address of each variable. Those that
/// are defined become weak definitions without code or values, the others external declarations.
std::string write_witness(std::vector<stated_function> const& functions,
                          std::vector<stated_variable> const& variables = {});

}  // namespace fatlink::detail
