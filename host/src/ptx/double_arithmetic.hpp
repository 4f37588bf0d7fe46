// SPDX-License-Identifier: Apache-2.0
// Functions that convert a float to double and compute with the result, as float code does that has
// a double literal. Conversions of integers do not count, which CUDA's own sinf has, nor a double
// that is only stored, as an argument of printf. Threads: no shared state.
#pragma once

#include <string>
#include <vector>

#include "ptx/syntax.hpp"

namespace fatlink::ptx {

/// The first instruction of a function that computes in double with what was a float.
struct double_arithmetic {
  std::string function = {};     ///< its name
  std::string instruction = {};  ///< "mul.f64"
  unsigned line = 0;             ///< of the PTX, from 1
  std::string place = {};        ///< in the source: "half.cu:3"; empty: unknown
};

/// One element for each function of `module` with a body that does so, in order.
std::vector<double_arithmetic> find_double_arithmetic(syntax::module const& module);

}  // namespace fatlink::ptx
