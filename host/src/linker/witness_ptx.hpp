// SPDX-License-Identifier: Apache-2.0
// The PTX that a type check by a link needs; see check_opaque_types.hpp.
#pragma once

#include <string>
#include <vector>

#include "fatlink/ptx_interface.hpp"
#include "fatlink/target.hpp"

namespace fatlink::detail {

/// Of the PTX: links for every target of CUDA 13.
constexpr target k_witness_target(75);

/// A function of the inputs whose types can be read.
struct stated_function {
  ptx_function function;
  std::string file;         ///< the input that states it
  bool is_defined = false;  ///< by such an input; else another input is to define it
};

/// A variable that an input with readable types declares or defines.
struct stated_variable {
  ptx_variable variable;
  std::string file;         ///< the input that states it
  bool is_defined = false;  ///< by such an input; else another input is to define it
};

/// PTX with a kernel that calls each function and takes the address of each variable. Functions
/// and variables that are defined are weak definitions, without code or values; all else is
/// external.
std::string write_witness(std::vector<stated_function> const& functions,
                          std::vector<stated_variable> const& variables = {});

}  // namespace fatlink::detail
