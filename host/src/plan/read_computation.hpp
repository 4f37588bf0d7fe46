// SPDX-License-Identifier: Apache-2.0
// What an output is computed by: "fold(combine, map(square, in), init)".
//
//   <result>  ::= "map" "(" <hook> {"," <operand>} ")"
//               | "fold" "(" <hook> "," <array> "," <value> ")"
//               | "scan" "(" <hook> "," <array> ")"
//               | "filter" "(" <hook> "," <array> ")"
//               | "segmented_fold" "(" <hook> "," <array> "," <input> "," <value> ")"
//               | "sort" "(" <hook> "," <array> [ "," <input> ] ")"
//   <array>   ::= <input> | "map" "(" <hook> {"," <operand>} ")"
//   <operand> ::= <array> | <value> | "index" | "neighbor" "(" <input> "," <offset> ")"
//               | "window" "(" <input> "," <offset> "," <offset> ")"
//   <offset>  ::= ["-"] <number>
//
// <input> and <value> are arguments of these roles; <hook> is the name of a hook. window(a, -1, 1)
// is neighbor(a, -1), neighbor(a, 0), neighbor(a, 1). Threads: no shared state.
#pragma once

#include <string>

#include "expression/words.hpp"
#include "fatlink/launch_plan.hpp"

namespace fatlink::detail {

/// @throws expression_error the text has another form, or uses a name that `plan` does not have;
/// more
///   than limits::k_operands operands, windows expanded.
computation read_computation(std::string const& text, launch_plan const& plan);

}  // namespace fatlink::detail
