// SPDX-License-Identifier: Apache-2.0
// Whether a compiled source fills or calls the hooks of its contract. Threads: no shared state.
#pragma once

#include "compiler/compile_messages.hpp"
#include "compiler/hook_types.hpp"
#include "compiler/llvm_ir.hpp"
#include "fatlink/fatbin.hpp"

namespace fatlink::detail {

/// @throws compile_error (missing-hook) `code` neither defines nor calls a hook of the contract;
/// the
///   hint names a similar function, the C++ name of the hook, or the declaration;
///   (signature-mismatch) it defines one with parameters of other widths, which only LLVM IR can.
void check_hooks(fatbin const& code, compile_subject const& subject, hook_types const& types);

/// @throws compile_error (signature-mismatch) always: the options of the compile change what the
///   header of the contract declares.
[[noreturn]] void refuse_declarations(compile_subject const& subject);

/// Whether the PTX of `code` has no function and no variable, nor needs one; false without PTX.
bool is_empty(fatbin const& code);

/// For LLVM IR, of which NVRTC has seen no contract. `agreement`: the result of libNVVM's
/// comparison.
/// @throws compile_error (signature-mismatch) the text defines a hook of the contract with another
///   type of the same width: i32 for float.
void check_ir_types(std::string_view text, compile_subject const& subject, hook_types const& types,
                    ir_agreement agreement);

/// For LLVM IR. `libdevice`: its file; empty if there is none.
/// @throws unavailable_error it is missing, and `code` calls a function of it.
/// @throws compile_error (compile_failed) it has no such function.
void check_libdevice(fatbin const& code, compile_subject const& subject,
                     std::string const& libdevice);

/// For text of LLVM IR: what libNVVM reports in other ways for each target, or ends the process
/// for. @throws compile_error (missing-hook, compile_failed without a contract) `text` has only
///   white space and comments; (compile_failed) it is not LLVM IR, or states no data layout.
void check_ir_text(std::string_view text, compile_subject const& subject);

}  // namespace fatlink::detail
