// SPDX-License-Identifier: Apache-2.0
// Names in reference expressions, and whether an expression can be evaluated at all: before the
// types of its operands are known. Threads: no shared state.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fatlink::detail {

/// The names of variables in an expression, each once: "x", "state.scale", in order of appearance.
/// Names before "(" are functions; "pi" and names that begin with "_" are constants.
std::vector<std::string> variables_in(std::string_view text);

/// The part of a name before its first dot.
std::string_view base_of(std::string_view name) noexcept;

/// Evaluates `text` once, with `variables`.
/// @throws expression_error the message of muParser, or a limit.
/// @throws unavailable_error muParser is not installed, and the expression needs it.
void check_expression(std::string const& text, std::span<std::string const> variables);

}  // namespace fatlink::detail
