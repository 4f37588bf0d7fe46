// SPDX-License-Identifier: Apache-2.0
// Compares the types of two declarations of a function, as far as PTX shows them.
#pragma once

#include <string>
#include <utility>

#include "preflight/symbols.hpp"

namespace fatlink::detail {

/// `uncertain`: a body reads as an integer what callers pass as a float, or the reverse. Either the
/// types differ, or the body uses the bits of the right type: both have the same PTX.
enum class type_agreement { same, uncertain, different };

/// Compares arity, widths, alignments, and float with integer where instructions tell. Inputs of
/// one contract were compiled against its header, so only certain differences are reported for
/// them.
type_agreement compare_types(function_symbol const& a, function_symbol const& b);

/// Bytes of a kernel's parameter, which is all that a cubin states of it.
unsigned long parameter_bytes(ptx_parameter const& parameter);

/// Both as text, in the least detail that shows how they differ.
std::pair<std::string, std::string> describe_types(ptx_function const& a, ptx_function const& b);

}  // namespace fatlink::detail
