// SPDX-License-Identifier: Apache-2.0
// LLVM IR as a source: the error of a failed compile, and the types of its functions, which PTX
// does not state (float and i32 are both .b32 there). Sources: the logs of libNVVM 13.0 and 13.5;
// LLVM Language Reference, "Functions"; Itanium C++ ABI, "Type encodings". Threads: no shared
// state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile_messages.hpp"
#include "compiler/hook_types.hpp"
#include "fatlink/target.hpp"
#include "toolkit/program.hpp"

namespace fatlink::detail {

/// The data layout that the specification of NVVM IR 2.0 states for 64 bits.
constexpr char const* k_data_layout =
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64";

/// Of a function that a text defines. Only single words are read (float, i32, float*); of other
/// types nothing is known. Types as LLVM spells them, pointers as "ptr"; "?" for those that are not
/// a single word.
struct ir_signature {
  std::string result = {};
  std::vector<std::string> parameters = {};
};

/// "float (float, ptr)"
std::string to_string(ir_signature const& signature);

/// The type of the function `name` that `text` defines; empty if it does not. Takes time
/// proportional to the size of the text.
std::optional<ir_signature> find_ir_definition(std::string_view text, std::string_view name);

/// Whether the types that both state are the same: `mangled` is that of the contract, "FffE". True
/// where a type is not a number of 32 or 64 bits or a pointer. The number of parameters is not
/// compared.
bool agrees(ir_signature const& signature, std::string_view mangled);

/// Whether LLVM IR, as text or bitcode, defines and calls the hooks of a contract with its types.
/// libNVVM compiles the source together with a module that calls (or defines) each hook with the
/// contract's types, and without optimization: a call between functions of one type names the
/// function, any other one goes by its address (observed with 13.0 and 13.5).
enum class ir_agreement {
  same,       ///< of each hook that the source defines or calls
  different,  ///< of a hook whose parameters are all numbers
  unknown     ///< pointers to other types, classes, narrow integers; or a called hook's address is
              ///< taken
};

/// What the source defines and calls, by its PTX `module`, and for which target.
struct ir_subject {
  program const& source;
  ptx_interface const& module;
  target architecture = {};
};

/// The program whose PTX states it; empty: a type is not known. A program without headers: the
/// source has none of the hooks.
std::optional<program> ir_type_probe(ir_subject const& subject, hook_types const& types);

/// Reads the PTX of the probe. `own_ptx`: of the source alone.
ir_agreement read_ir_agreement(std::string_view ptx, std::string_view own_ptx,
                               ir_subject const& subject, hook_types const& types);

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
