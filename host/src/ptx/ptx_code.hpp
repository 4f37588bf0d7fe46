// SPDX-License-Identifier: Apache-2.0
// The code of each function and variable of a PTX module, in a form that compares equal for equal
// code: without comments, debug information (.loc, .file, .section), and what depends on the rest
// of the module: the numbers of registers, labels and stack frames, and in which register a
// constant is. Threads: no shared state.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace fatlink::detail {

/// Which names of a module mean the same in another one.
enum class name_scope {
  module,  ///< those with linkage: .visible, .weak, .extern, .common
  linked,  ///< PTX that an LTO link wrote, in which nothing has linkage: all but names that the
           ///< link changed because two inputs had them (f and f_$_1), strings ($str), and those
           ///< of a translation unit's own (_INTERNAL_…)
};

/// A function, kernel or variable of a module.
struct ptx_definition {
  std::string_view text;  ///< from .func, .entry or the state space to the end
  bool has_linkage = false;
  bool is_kernel = false;
};

/// The definitions of a module by name; the texts point into `ptx`. Functions that are only
/// declared are left out. @throws file_error `ptx` ends inside a definition; names `name`.
std::map<std::string_view, ptx_definition> read_ptx_definitions(std::string_view ptx,
                                                                std::string_view name);

/// By name: the code of the functions, kernels and variables that the module defines under names
/// that mean the same elsewhere; of linked PTX, not of kernels, for which nvJitLink chooses other
/// instructions in another order. A name that does not is replaced by the digest of its code.
/// @throws file_error `ptx` ends inside a definition; names `name`.
std::map<std::string, std::string, std::less<>> read_ptx_code(std::string_view ptx,
                                                              std::string_view name,
                                                              name_scope scope);

/// What made the module, and for what: the text before the first definition, which states the
/// compiler, the PTX version and the target. Code of one source differs where this differs.
std::string_view read_ptx_origin(std::string_view ptx) noexcept;

}  // namespace fatlink::detail
