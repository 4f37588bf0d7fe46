// SPDX-License-Identifier: Apache-2.0
// The types of a function that a text of LLVM IR defines, which its PTX does not state: float and
// i32 are both .b32 there. Reads only single words (float, i32, float*); of other types nothing is
// known. Source: LLVM Language Reference, "Functions"; Itanium C++ ABI, "Type encodings".
// Threads: no shared state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fatlink::detail {

/// The data layout that the specification of NVVM IR 2.0 states for 64 bits.
constexpr char const* k_data_layout =
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64";

/// Types as LLVM spells them, pointers as "ptr"; "?" for those that are not a single word.
struct ir_signature {
  std::string result = {};
  std::vector<std::string> parameters = {};
};

/// "float (float, ptr)"
std::string to_string(ir_signature const& signature);

/// The type of the function `name` that `text` defines; empty if it does not. Takes time
/// proportional to the size of the text.
std::optional<ir_signature> find_ir_definition(std::string_view text, std::string_view name);

/// The type that `mangled` states, as LLVM spells it: pointers as "ptr" where `is_opaque`, else as
/// "float*". Empty if a type is not a number of 32 or 64 bits or a pointer to one.
std::optional<ir_signature> ir_signature_of(std::string_view mangled, bool is_opaque);

/// Whether result and parameters of `mangled` are numbers of 32 or 64 bits, or void.
bool has_only_numbers(std::string_view mangled);

/// Whether the types that both state are the same: `mangled` is that of the contract, "FffE". True
/// where a type is not a number of 32 or 64 bits or a pointer. The number of parameters is not
/// compared.
bool agrees(ir_signature const& signature, std::string_view mangled);

}  // namespace fatlink::detail
