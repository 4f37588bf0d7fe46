// SPDX-License-Identifier: Apache-2.0
// The prototypes in section .nv.prototype: the types of device functions that the file defines for
// others, and of hooks that it calls by name.
//
// <prototype> ::= "#" <result> <parameter>* ( "|" <registers> )?
// <result>    ::= "v" | <type>
// <parameter> ::= <type> | "b0"              "b0" comes last and stands for `...`
// <type>      ::= ( "i" | "l" | "x" ) <count>? | "b" <count>
// i: a scalar of at most 32 bits, l: of 64, x: of 128; with a count, so many of them; b: bytes.
// <registers> says which registers calls preserve (PTX: .abi_preserve) and is skipped.
// Source: no public specification; observed with ptxas 12.9, 13.0 and 13.5. Threads: no shared
// state.
#pragma once

#include <string_view>

#include "fatlink/ptx_interface.hpp"

namespace fatlink::detail {

/// Sets results, parameters and is_variadic of `function` to what the text at the beginning of
/// `text` says, up to a NUL. False if it is no prototype.
/// @throws cubin_above_limit more than 4,096 parameters; its offset is 0.
bool read_prototype(std::string_view text, ptx_function& function);

}  // namespace fatlink::detail
