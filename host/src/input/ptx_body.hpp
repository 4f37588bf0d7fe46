// SPDX-License-Identifier: Apache-2.0
// Whether text is PTX, by its structure: tokens, directives at module level, statements in blocks,
// balanced braces. Names, operands and unknown directives are left to the assembler, so that PTX of
// newer versions is accepted.
//
//   module    ::= { directive | block | ";" }
//   directive ::= unterminated                         .version, .target, .address_size, .file,
//   .loc
//               | ".section" name "{" any "}"          DWARF
//               | ".name" any ( ";" | block )          a function, a variable, .pragma, .alias
//   block     ::= "{" { statement } "}"
//   statement ::= label ":" | unterminated | block | [ any ] ";"   begins with a word, "." or "@"
//
// ptx/lexer.hpp has the grammar of unterminated directives, and skips lines that begin with `#`.
// Lines that begin with `@@` (DWARF of PTX 2.0) are skipped. Source: PTX ISA 9.0, "Syntax" and
// "Directives". Threads: no shared state.
#pragma once

#include <string_view>

namespace fatlink::detail {

/// Checks `text`, the whole of a PTX module. `name` is the file's, for messages.
/// @throws format_error (stage input) corrupt-ptx, with the line: bytes that are no token, a string
///   that does not end, text at module level that is no directive, text in a block that is no
///   statement, unbalanced braces, an end inside a statement.
void check_ptx_body(std::string_view text, std::string_view name);

}  // namespace fatlink::detail
