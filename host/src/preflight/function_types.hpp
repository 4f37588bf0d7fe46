// SPDX-License-Identifier: Apache-2.0
// Whether two declarations of one function have one type, as far as PTX tells.
#pragma once

#include <string>
#include <utility>

#include "preflight/symbol_index.hpp"

namespace fatlink::detail {

/// `uncertain`: a body reads as an integer what callers pass as a float, or the reverse. Either its
/// type is another, or it uses the bits of the right one: the PTX of both is the same.
enum class type_agreement { same, uncertain, different };

/// Compares arity, widths, alignments, and float with integer where instructions tell. Inputs of
/// one contract were compiled against its header: of them only what is certain is compared.
type_agreement compare_types(function_symbol const& a, function_symbol const& b);

/// Both as text, in the least detail that shows how they differ.
std::pair<std::string, std::string> describe_types(ptx_function const& a, ptx_function const& b);

}  // namespace fatlink::detail
