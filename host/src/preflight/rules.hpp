// SPDX-License-Identifier: Apache-2.0
// The rules of preflight, one function for each, which appends to `findings`; and the helpers that
// they share. Grouped by the file that defines them. A new rule is called in preflight.cpp; a new
// finding has an id in fatlink/finding.hpp and its text in findings.cpp. Threads: no shared
// state.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink::detail {

/// An input and its contents.
struct preflight_input {
  fatbin const* file;
  ptx_interface const& interface;
  std::optional<fatlink::ident> const& ident;  ///< of the first entry that has one
  bool is_opaque;                              ///< see fatlink::is_opaque()
};
using preflight_inputs = std::vector<preflight_input>;
class symbol_index;

// entries.cpp: which entries link, their float flags and digests

/// arch-too-new, arch-specific, arch-unknown, no-ltoir, no-ptx, no-sass: no entry of an input
/// links. not-relocatable: the entry is a whole program. arch-unknown as a warning, newer-entry: an
/// entry is passed over.
void check_entries(preflight_inputs const& inputs, preflight_request const& request,
                   std::vector<finding>& findings);
/// no-ltoir: allow_calls, and no input has LTO-IR.
void check_ltoir_parts(preflight_inputs const& inputs, preflight_request const& request,
                       std::vector<finding>& findings);
/// float-contract: LTO mode takes one set of flags for all inputs.
void check_float_flags(preflight_inputs const& inputs, preflight_request const& request,
                       std::vector<finding>& findings);

/// unverified-bytes: a warning for each file without digests, with those of its modules.
void check_digests(preflight_inputs const& inputs, std::vector<finding>& findings);

// contracts.cpp: the contracts that idents state

/// fatlink-too-old, uncontracted, contract-mismatch.
void check_contracts(preflight_inputs const& inputs, symbol_index const& symbols,
                     std::vector<finding>& findings);

// selection.cpp: members of archives, kernels and variables to keep

/// unknown-kernel, unknown-variable: what the request keeps. Left to the link if an input is
/// opaque.
void check_kept(preflight_inputs const& inputs, preflight_request const& request,
                std::vector<finding>& findings);
/// What the inputs, whose names are `files`, define.
struct defined_names {
  std::vector<std::string> files;
  std::vector<std::string> kernels;
  std::vector<std::string> variables;
};
/// unknown-kernel, unknown-variable: what `defined` lacks of `kernels` and `variables`.
std::vector<finding> find_unknown(std::vector<std::string> const& kernels,
                                  std::vector<std::string> const& variables,
                                  defined_names const& defined);

/// unused-input: a warning for each archive of `inputs` that gave none of `modules`, which
/// select_modules() selected of them.
std::vector<finding> unused_archives(std::span<input const> inputs,
                                     std::span<fatbin const> modules);

// symbols.cpp: functions and variables

/// Whether the CUDA driver defines the function (vprintf, malloc, cnpGetLastError, …).
bool is_system_function(std::string_view name);
/// missing-hook.
void check_hooks(preflight_inputs const& inputs, symbol_index const& symbols,
                 std::vector<finding>& findings);
/// missing-hook: the module `file` calls the function `name`, which no input defines. `shown` is
/// the function as the message names it: with its type, if that is known.
finding missing_hook(std::string const& file, std::string const& name, std::string const& shown,
                     std::string hint);
/// duplicate-symbol.
void check_duplicates(preflight_inputs const& inputs, symbol_index const& symbols,
                      std::vector<finding>& findings);

/// duplicate-symbol: the modules `a` and `b` define `name`. `is_hook`: an input declares it, so
/// neither definition is private.
finding duplicate_symbol(std::string const& name, std::string const& a, std::string const& b,
                         bool is_hook);

/// missing-variable.
void check_variables(preflight_inputs const& inputs, symbol_index const& symbols,
                     std::vector<finding>& findings);
/// signature-mismatch of variables.
void check_variable_types(symbol_index const& symbols, std::vector<finding>& findings);
/// constant-memory.
void check_constant_memory(preflight_inputs const& inputs, preflight_request const& request,
                           std::vector<finding>& findings);

// types.cpp: types of functions, and arguments

/// unreadable-types, unchecked-types: of inputs whose types cannot be read before the link.
void check_types(preflight_inputs const& inputs, preflight_request const& request,
                 std::vector<finding>& findings);

/// signature-mismatch, uncertain-type, unchecked-types: all declarations and definitions of one
/// name, weak or not, whatever the order of the inputs.
void check_function_types(symbol_index const& symbols, std::vector<finding>& findings);

/// unpassed-argument: calls of a weak definition leave out an argument that it does not use, so
/// another definition that replaces it gets no value there. An error if that one reads it.
void check_unpassed_arguments(preflight_inputs const& inputs, symbol_index const& symbols,
                              preflight_request const& request, std::vector<finding>& findings);

// kernel_resources.cpp: kernels with the functions of other inputs that they call

/// kernel-resources: static shared memory from PTX, an error in ptx mode and a warning in lto mode,
/// which may remove some; registers from cubins.
void check_kernel_resources(preflight_inputs const& inputs, preflight_request const& request,
                            std::vector<finding>& findings);

// definitions.cpp: inputs and definitions without effect

/// "(b32) f(b32), (b32) g(b32)"; after three of them "and 2 more".
std::string list_functions(std::vector<ptx_function> const& functions);
/// removed-functions, no-definition: an input that defines nothing. An error where a hook is
/// missing or no input has a kernel, else a warning. Follows check_hooks.
void check_definitions(preflight_inputs const& inputs, std::vector<finding>& findings);
/// compared-by-link: a warning where an input defines a function with C linkage that may replace an
/// inline function of another input's LTO-IR, which no PTX shows.
void check_replacements(preflight_inputs const& inputs, symbol_index const& symbols,
                        preflight_request const& request, std::vector<finding>& findings);
/// unused-input: a warning where no other input calls what an input defines.
void check_unused(preflight_inputs const& inputs, symbol_index const& symbols,
                  std::vector<finding>& findings);

// weak_code.cpp: weak definitions of one name

/// weak-mismatch: the weak definitions that two inputs have of `symbol` differ. A warning for code
/// of CUDA's own headers, of which versions differ without harm; an error for all other code.
finding weak_mismatch(std::string const& symbol, std::string const& a, std::string const& b);
/// weak-mismatch: inline functions, templates and inline variables that the PTX of two inputs shows
/// with different code. In ptx mode a warning where other compilers, or targets, may be the reason;
/// an lto link compares those itself (compare_orders.hpp).
void check_weak_code(preflight_inputs const& inputs, symbol_index const& symbols,
                     preflight_request const& request, std::vector<finding>& findings);

// versions.cpp: versions of toolkits

/// 13.0 for "13.0.88"; nothing for other text.
std::optional<toolkit_version> parse_toolkit_version(std::string_view text) noexcept;
/// The newest toolkit that fatlink was tested with.
toolkit_version newest_known_toolkit() noexcept;
/// target-too-new, toolkit-too-new, toolkit-major; nothing without `request.linker`.
void check_toolkits(std::span<fatbin const> inputs, preflight_request const& request,
                    std::vector<finding>& findings);

// double_arithmetic.cpp: findings that only `fatlink inspect` reports

/// A warning (double-arithmetic) for each function that `module` defines for others, that takes or
/// returns a float and no double, and whose PTX converts a float to double and computes with it;
/// one for each name. PTX of more than 16 MiB, and PTX that fatlink cannot execute, is not
/// searched, nor are LTO-IR and cubins, which do not show it.
/// @throws format_error a PTX payload that does not decompress.
std::vector<finding> find_double_arithmetic(fatbin const& module);

}  // namespace fatlink::detail
