// SPDX-License-Identifier: Apache-2.0
// Parses PTX text. Input is untrusted and the parser is fuzzed (tests/fuzz): for any text it
// returns or throws. Source: PTX ISA 9.0.
#pragma once

#include <string>
#include <string_view>

#include "ptx/syntax.hpp"

namespace fatlink::ptx {

/// Parses one module; `name` is its name in messages. Names of registers, local variables and
/// labels are resolved; names of module scope are left to the linker.
/// @throws syntax_error naming `name` and the line: malformed text, or text beyond a limit
///   (util/limits.hpp). The largest accepted text takes 1.5 GB of memory.
syntax::module parse_module(std::string_view text, std::string name);

}  // namespace fatlink::ptx
