// SPDX-License-Identifier: Apache-2.0
// Lists the functions that the kernels of LTO-IR call or take the address of, defined or not, by an
// additional link to PTX without optimisation. Lists nothing for an input without kernels, and no
// __forceinline__ functions. Measured with nvJitLink 13.0 and 13.5.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fatlink/linker.hpp"
#include "fatlink/ptx_interface.hpp"
#include "linker/link_function.hpp"

namespace fatlink::detail {

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

}  // namespace fatlink::detail
