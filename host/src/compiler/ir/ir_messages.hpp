// SPDX-License-Identifier: Apache-2.0
// Turns a failed compile of LLVM IR into an error that names the user's line. Source: the logs of
// libNVVM 13.0 and 13.5. Threads: no shared state.
#pragma once

#include <string>
#include <string_view>

#include "compiler/messages/compile_messages.hpp"
#include "fatlink/target.hpp"
#include "vendor_compiler/program.hpp"

namespace fatlink::detail {

/// What libNVVM was asked to compile.
struct ir_compile {
  fatlink::target target = {};     ///< of the compile that failed
  std::string_view source = {};    ///< text or bitcode
  std::string_view producer = {};  ///< "libNVVM 13.0"
};

/// @throws compile_error (compile_failed) with line and column, both from 1, as in
///   "src/half.ll:4:13: error: expected type"; its hint states the dialect of the target.
/// @throws unavailable_error an architecture that libNVVM does not know.
[[noreturn]] void refuse_ir_product(compile_product const& product, compile_subject const& subject,
                                    ir_compile const& compile);

}  // namespace fatlink::detail
