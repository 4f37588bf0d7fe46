// SPDX-License-Identifier: Apache-2.0
// The parts of the parser: each function reads one construct of PTX from the token reader.
// All throw syntax_error.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/lexer.hpp"
#include "ptx/syntax.hpp"

namespace fatlink::ptx {

/// Reads `.align 4 .b8 name[12] = {…}, …;`: the declaration that follows the state space `space`,
/// including its semicolon, and appends its variables.
void parse_variables(token_reader& reader, space space, syntax::linkage linkage,
                     std::vector<syntax::variable>& variables);

/// Reads the line `.loc 1 7 3, function_name …, inlined_at 1 11 9`. Returns an empty location if
/// the column is 0: compilers write that at the start of every function, also without -lineinfo.
syntax::source_location parse_location(token_reader& reader);

/// Reads a number as an operand and negates it if `negative`.
syntax::operand parse_number(token_reader& reader, bool negative);

/// Whether a constant expression may begin at the next token.
bool at_constant(token_reader const& reader) noexcept;

/// Reads a constant expression, `(1 << 4) + WARP_SZ`, and computes it: an operand of the kind
/// integer, real32 or real64.
syntax::operand parse_constant(token_reader& reader);

/// Reads `+4`, `-4`, `+4*2-4` or nothing, which is 0.
std::int64_t parse_offset(token_reader& reader);

/// Reads the body of `function`, from after its opening brace to after its closing brace. A
/// statement that is malformed becomes function::error; the rest of the body is skipped.
void parse_body(token_reader& reader, syntax::function& function);

}  // namespace fatlink::ptx
