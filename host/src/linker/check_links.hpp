// SPDX-License-Identifier: Apache-2.0
// Additional links that only check inputs, in which nvJitLink shows what LTO-IR does not. Measured
// with nvJitLink 13.0 to 13.5.
//   1. Without optimization, to PTX: lists the functions that the kernels of LTO-IR call or take
//      the address of, defined or not. Lists nothing for an input without kernels, and no
//      __forceinline__ functions.
//   2. With a witness: PTX that defines and calls functions with stated types; nvJitLink reports
//      what differs from the input. See check_opaque_inputs.hpp.
// Threads: no shared state.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/image.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/ptx_interface.hpp"
#include "fatlink/target.hpp"
#include "toolkit/link_in_process.hpp"

namespace fatlink::detail {

/// A call of nvJitLink, in this process or in the helper. @throws link_error
using link_function =
    std::function<link_product(std::vector<link_input> const& inputs,
                               std::vector<std::string> const& options, image_kind emit)>;

/// The interface of linked PTX, with its functions as definitions. (A link makes every function
/// internal, and read_ptx_interface() lists only visible ones.)
/// @throws file_error `linked` is not valid PTX; names `name`.
ptx_interface read_linked_interface(std::string_view linked, std::string_view name);

/// nvJitLink's options for links that only check `inputs`: target, mode and the float flags of the
/// inputs, and nothing else of `options`. Kernels to keep, for example, would hide the calls of the
/// others, and an optimization level would conflict with that of the check.
std::vector<std::string> check_options(std::vector<fatbin> const& inputs,
                                       link_options const& options);

/// The PTX of an additional link of the LTO-IR of `inputs`, in this order, without optimization: it
/// shows the functions that the kernels call, none of them inlined but `__forceinline__` ones.
/// `texts`: the result of check_options(). @throws link_error the link failed.
std::string unoptimized_link(std::vector<fatbin const*> const& inputs, link_options const& options,
                             std::vector<std::string> texts, link_function const& link);

/// The interface that the kernels of `input` use. `texts`: the result of check_options().
/// @throws link_error the link failed.
ptx_interface read_reachable(fatbin const& input, link_options const& options,
                             std::vector<std::string> texts, link_function const& link);

/// The target of the PTX, which links for every target of CUDA 13.
constexpr target k_witness_target(75);

/// A function that an input with readable types declares or defines.
struct stated_function {
  ptx_function function;
  std::string file;         ///< the input that states it
  bool is_defined = false;  ///< an input with readable types defines it
};

/// A variable that an input with readable types declares or defines.
struct stated_variable {
  ptx_variable variable;
  std::string file;         ///< the input that states it
  bool is_defined = false;  ///< an input with readable types defines it
};

/// PTX with a kernel that calls each function and takes the address of each variable. Those that
/// are defined become weak definitions without code or values, the others external declarations.
std::string write_witness(std::vector<stated_function> const& functions,
                          std::vector<stated_variable> const& variables = {});

struct witness_observation {
  std::set<std::string> mismatched;  ///< of another type, size or memory space
  std::set<std::string> undefined;   ///< neither the input nor the witness defines it
};

/// What the link of `input` with `witness`, PTX, reports. `texts`: the result of check_options().
/// @throws link_error the link failed for another reason.
witness_observation observe_witness(fatbin const& input, std::string const& witness,
                                    link_options const& options,
                                    std::vector<std::string> const& texts,
                                    link_function const& link);

}  // namespace fatlink::detail
